// SPDX-License-Identifier: Apache-2.0
// What layers are made with: a precision policy, and the device where it is not the host.
#pragma once
#include <cstdint>
#include <type_traits>

#include "sinter/kernels/normalize.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter {

/// The precision policy, for layers on a device that is not the host.
template <class Precision, class Device>
struct Setting : Precision {
  using device = Device;  ///< as it is in the recipe
};

/// What the layers of the recipe R are made with.
template <class R>
using SettingOf = std::conditional_t<R::device::on_host, typename R::precision,
                                     Setting<typename R::precision, typename R::device>>;

/// Bytes of logits that a loss computes at once, about: what a cache of the CPU has room for; on a card,
/// so many that their products fill it and that the gradient of the weight is added to seldom.
#ifdef SINTER_CUDA
inline constexpr std::int64_t logit_bytes_at_once = std::int64_t{512} << 20;
#else
inline constexpr std::int64_t logit_bytes_at_once = std::int64_t{4} << 20;
#endif

/// Blocks of rows that the backward pass of a norm sums apart: on a card four for each of its multiprocessors,
/// of which large ones have 132.
#ifdef SINTER_CUDA
inline constexpr int norm_row_blocks = 4 * 132;
#else
inline constexpr int norm_row_blocks = kernel::least_row_blocks;
#endif

/// A tensor whose elements the host cannot reach: kernels take it as they take any other.
template <class T>
struct DeviceTensor : kernel::Tensor<T> {
  using kernel::Tensor<T>::Tensor;

  /// Does not compile; nor does put().
  T& operator()(int, int) const {
    refuse();
    return *this->data;
  }
  void put(int, int, auto) const { refuse(); }  ///< see above

 private:
  static constexpr void refuse() {
    static_assert(
        sizeof(T) == 0,
        "Sinter: a layer reads or writes single elements, and the recipe's device is not the host. "
        "What: x(row, column) or x.put(row, column, value) in the layer named in this error. Why: "
        "the elements are in the device's memory, which code on the host cannot touch. Fix: call "
        "kernels (sinter/kernels), or train the recipe on Cpu.");
  }
};

namespace detail {

template <class P, class T>
struct TensorFor {
  using type = kernel::Tensor<T>;
};
template <class P, class T>
  requires requires { typename P::device; }
struct TensorFor<P, T> {
  using type = DeviceTensor<T>;
};

}  // namespace detail

/// A tensor of T as layers see it that are made with P.
template <class P, class T>
using TensorFor = typename detail::TensorFor<P, T>::type;

}  // namespace sinter

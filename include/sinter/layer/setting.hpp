// SPDX-License-Identifier: Apache-2.0
// What layers are compiled for: a precision policy, and the device if it is not the host.
#pragma once
#include <cstdint>
#include <type_traits>

#include "sinter/kernels/normalize.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::detail {

/// The precision policy, for layers on a device that is not the host.
template <class Precision, class Device>
struct Setting : Precision {
  using device = Device;  ///< the device of the recipe
};

/// The precision policy, or its Setting, for which the layers of the recipe R are compiled.
template <class R>
using SettingOf = std::conditional_t<R::device::on_host, typename R::precision,
                                     Setting<typename R::precision, typename R::device>>;

/// Approximate bytes of logits that a loss computes at once. They fit in a cache of the CPU. On a
/// card their products occupy all of it, and the gradient of the weight is added to only seldom.
#ifdef SINTER_CUDA
inline constexpr std::int64_t logit_bytes_at_once = std::int64_t{512} << 20;
#else
inline constexpr std::int64_t logit_bytes_at_once = std::int64_t{4} << 20;
#endif

/// Number of blocks of rows that the backward pass of a norm sums apart: on a card, four for each
/// multiprocessor of a large one, which has 132.
#ifdef SINTER_CUDA
inline constexpr int norm_row_blocks = 4 * 132;
#else
inline constexpr int norm_row_blocks = kernel::min_row_blocks;
#endif

/// A tensor whose elements the host cannot reach. Kernels accept it like any other tensor.
template <class T>
struct DeviceTensor : kernel::Tensor<T> {
  using kernel::Tensor<T>::Tensor;

  /// Does not compile, as the host cannot reach the element.
  T& operator()(int, int) const {
    refuse();
    return *this->data;
  }
  void put(int, int, auto) const { refuse(); }  ///< does not compile

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

template <class P, class T>
struct TensorType {
  using type = kernel::Tensor<T>;
};
template <class P, class T>
  requires requires { typename P::device; }
struct TensorType<P, T> {
  using type = DeviceTensor<T>;
};

/// The tensor type with elements T in layers that are compiled for P.
template <class P, class T>
using TensorFor = typename TensorType<P, T>::type;

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Narrow element types are for storage: kernels compute in a wider one.
#pragma once
#include <type_traits>

namespace sinter::kernel {

/// The type in which kernels compute with elements of type T, and that sums and statistics have.
/// Gradients of parameters have it too, or else T.
template <class T>
struct WideOf {
  using type = T;
};
/// The same, as a type.
template <class T>
using Wide = typename WideOf<T>::type;

/// Whether T is for storage alone.
template <class T>
inline constexpr bool is_narrow = !std::is_same_v<T, Wide<T>>;

}  // namespace sinter::kernel

// SPDX-License-Identifier: Apache-2.0
// Narrow element types are for storage: kernels compute in a wider one.
#pragma once
#include <type_traits>

namespace sinter::kernel {

/// The type in which kernels compute with elements of type T, and the type of sums and statistics.
/// Gradients of parameters have this type or T.
template <class T>
struct WideOf {
  using type = T;
};
/// The wide type of T, see WideOf.
template <class T>
using Wide = typename WideOf<T>::type;

/// True if T is only for storage.
template <class T>
inline constexpr bool is_narrow = !std::is_same_v<T, Wide<T>>;

}  // namespace sinter::kernel

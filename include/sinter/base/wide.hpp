// SPDX-License-Identifier: Apache-2.0
// Narrow element types are for storage: kernels compute in a wider one.
#pragma once
#include <type_traits>

namespace sinter::kernel {

/// The type in which kernels compute and sum up elements of type T: float for BFloat16 and Float16,
/// else T. Gradients of parameters have this type or T.
template <class T>
struct WideOf {
  using type = T;  ///< the wide type; T itself unless specialised
};
/// The wide type of T, see WideOf.
template <class T>
using Wide = typename WideOf<T>::type;

/// True if T is only for storage, as BFloat16 is.
template <class T>
inline constexpr bool is_narrow = !std::is_same_v<T, Wide<T>>;

}  // namespace sinter::kernel

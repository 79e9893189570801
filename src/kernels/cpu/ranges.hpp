// SPDX-License-Identifier: Apache-2.0
// Single-threaded functions that several kernels share. Each call picks the best instruction set.
#pragma once
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/elements.hpp"

namespace sinter::kernel {

/// y[i] = a[i] + b[i]. Defined in elementwise.cpp.
template <class T>
void add_range(const T* a, const T* b, T* y, std::int64_t n);

/// y[i] = x[i], rounded, or += with `add`. (From, To) is (T, T), (T, Wide<T>) or (Wide<T>, T). y
/// may begin where x does. Defined in elementwise.cpp.
template <class From, class To>
void put_range(const From* x, To* y, std::int64_t n, bool add);

/// Sums in the wide type into an array that may be narrow: calls body(sums, first, count) for
/// pieces of to[0, n), where sums begin as zeros, or with `add` as what is there; then rounds the
/// sums once, into their place.
template <class S, class T, class Body>
void in_wide(T* to, std::int64_t n, bool add, const Body& body) {
  if constexpr (std::is_same_v<S, T>) {
    if (!add) std::fill_n(to, n, T(0));
    body(to, 0, n);
  } else {
    constexpr std::int64_t most = 1024;
    S sums[most];
    for (std::int64_t first = 0; first < n; first += most) {
      const std::int64_t count = std::min(most, n - first);
      if (add) {
        put_range(to + first, sums, count, false);
      } else {
        std::fill_n(sums, count, S(0));
      }
      body(sums, first, count);
      put_range(sums, to + first, count, false);
    }
  }
}

}  // namespace sinter::kernel

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"

namespace sinter::detail {

/// Adds the same elements of several ranks to sums, in the order of the ranks, in the wide type.
template <class T>
void add_in_order(std::span<const void* const> from, kernel::Wide<T>* sums, std::int64_t count) {
  constexpr std::int64_t block = 1024;  // which stays in the first cache
  for (std::int64_t first = 0; first < count; first += block) {
    const std::int64_t size = std::min(block, count - first);
    for (const void* rank : from) {
      const T* values = static_cast<const T*>(rank) + first;
      for (std::int64_t k = 0; k < size; ++k) sums[first + k] += kernel::Wide<T>(values[k]);
    }
  }
}

/// Sums the same elements of several ranks, in the order of the ranks, in the wide type, rounds once,
/// and writes the sum to each of `to`, which may be among those that it is of.
template <class T>
void sum_in_order(std::span<void* const> from, std::span<void* const> to, std::int64_t count) {
  constexpr std::int64_t block = 1024;  // which stays in the first cache
  kernel::Wide<T> sums[block];
  for (std::int64_t first = 0; first < count; first += block) {
    const std::int64_t size = std::min(block, count - first);
    std::fill_n(sums, size, kernel::Wide<T>(0));
    for (void* rank : from) {
      const T* values = static_cast<const T*>(rank) + first;
      for (std::int64_t k = 0; k < size; ++k) sums[k] += kernel::Wide<T>(values[k]);
    }
    for (void* place : to) {
      T* values = static_cast<T*>(place) + first;
      for (std::int64_t k = 0; k < size; ++k) values[k] = T(sums[k]);
    }
  }
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Cuts work into parts for the pool.
#pragma once
#include <algorithm>
#include <cstdint>

#include "sinter/hardware/stream.hpp"

namespace sinter::kernel {

/// Elements below which waking another thread costs more than it saves.
inline constexpr std::int64_t grain = 8192;

/// Returns the number of parts for `n` items of `cost` elements each: one for each thread, or fewer
/// if there is little work.
inline int parts_for(const Stream& stream, std::int64_t n, std::int64_t cost = 1) {
  std::int64_t most = std::max<std::int64_t>(n * cost / grain, 1);
  return int(std::min<std::int64_t>({most, std::max<std::int64_t>(n, 1), stream.threads()}));
}

/// Calls body(begin, end) for pieces that cover [0, n), of items of `cost` elements each. Pieces
/// begin at multiples of `multiple`, so that every element takes the same path through a vector
/// loop for any number of threads.
template <class F>
void split(Stream& stream, std::int64_t n, std::int64_t cost, std::int64_t multiple,
           const F& body) {
  if (n <= 0) return;
  std::int64_t blocks = (n + multiple - 1) / multiple;
  int parts = int(std::min<std::int64_t>(parts_for(stream, n, cost), blocks));
  stream.parallel(parts, [&](int part) {
    std::int64_t begin = blocks * part / parts * multiple;
    std::int64_t end = std::min(blocks * (part + 1) / parts * multiple, n);
    if (begin < end) body(begin, end);
  });
}

/// Splits a flat array of n elements.
template <class F>
void split_elements(Stream& stream, std::int64_t n, const F& body) {
  split(stream, n, 1, 64, body);
}

/// Splits rows with `width` elements each.
template <class F>
void split_rows(Stream& stream, int rows, int width, const F& body) {
  split(stream, rows, width, 1,
        [&](std::int64_t begin, std::int64_t end) { body(int(begin), int(end)); });
}

/// Splits the columns of a matrix with `rows` rows, in whole cache lines.
template <class F>
void split_columns(Stream& stream, int rows, int columns, const F& body) {
  split(stream, columns, rows, 16,
        [&](std::int64_t begin, std::int64_t end) { body(int(begin), int(end)); });
}

}  // namespace sinter::kernel

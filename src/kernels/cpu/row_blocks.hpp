// SPDX-License-Identifier: Apache-2.0
// Sums over rows, for gradients of weights that all rows share: each block of rows has its own
// partial sums, which are added in order. The blocks depend only on the number of rows, so the sums
// are the same for every number of threads.
#pragma once
#include <algorithm>
#include <cstdint>

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/ranges.hpp"

namespace sinter::kernel {

inline constexpr int max_row_blocks = 32, min_row_block = 16;

/// Calls row(r, partial) for every row, and returns the number of blocks.
///   partial  the `sums` partial sums of the row's block, zero at first; null if scratch is
///   cost     of a row, as for split()
///   scratch  max_row_blocks × sums elements, or null
template <class S, class Row>
int for_row_blocks(Stream& stream, int rows, std::int64_t cost, S* scratch, int sums,
                   const Row& row) {
  const int block = std::max((rows + max_row_blocks - 1) / max_row_blocks, min_row_block);
  const int blocks = (rows + block - 1) / block;
  split(stream, blocks, block * cost, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t b = first; b < last; ++b) {
      S* partial = scratch ? scratch + b * sums : nullptr;
      if (partial) std::fill_n(partial, sums, S(0));
      const std::int64_t end = std::min<std::int64_t>((b + 1) * block, rows);
      for (std::int64_t r = b * block; r < end; ++r) row(r, partial);
    }
  });
  return blocks;
}

/// total = the sum of the blocks' partial sums, or += with `add`: n of each block, the blocks
/// `sums` apart. Where total is narrower, it is rounded once.
template <class S, class G>
void combine_row_blocks(const S* partial, int blocks, int sums, G* total, int n, bool add) {
  in_wide<S>(total, n, add, [&](S* wide, std::int64_t first, std::int64_t count) {
    for (int b = 0; b < blocks; ++b)
      add_range(wide, partial + std::int64_t(b) * sums + first, wide, count);
  });
}

}  // namespace sinter::kernel

// SPDX-License-Identifier: Apache-2.0
// Kernels that do the same with each row of a matrix.
#pragma once
#include <algorithm>

#include "hardware/cuda/sums.hpp"

namespace sinter::kernel {

/// Rows of a block, of each of which a warp has a part.
inline constexpr int rows_of_block = 8;
/// Columns of a part.
inline constexpr int columns_of_part = 1024;

/// The grid of a kernel that calls row_of_warp() and for_each_column().
inline Grid grid_of_rows(int rows, int columns) {
  const unsigned parts = std::max(1u, blocks_of(columns, columns_of_part));
  return {{blocks_of(rows, rows_of_block), parts}, {warp, rows_of_block}};
}

/// The warp's row; there may be fewer rows.
__device__ __forceinline__ int row_of_warp() {
  return int(blockIdx.x) * rows_of_block + int(threadIdx.y);
}

/// Calls body(c) for every column c in [0, n), each in one thread of those that have the row.
template <class F>
__device__ __forceinline__ void for_each_column(int n, const F& body) {
  for (int c = int(blockIdx.y) * warp + int(threadIdx.x); c < n; c += int(gridDim.y) * warp)
    body(c);
}

}  // namespace sinter::kernel

// SPDX-License-Identifier: Apache-2.0
// Products of one tile of an Int8Matrix, as processors compute them.
#pragma once
#include <algorithm>

#include "sinter/kernels/int8.hpp"

namespace sinter::kernel {

/// Rows of x in int8, as a product reads them.
struct Int8Rows {
  const std::int8_t* values;    ///< rows × columns
  const float* scales;          ///< rows × groups
  const std::int32_t* offsets;  ///< rows × groups: 128 × the sum of a group's values
  int rows, columns, group;

  int groups() const { return columns / group; }
  /// At most `count` rows from `first` on.
  Int8Rows from(int first, int count) const {
    const std::int64_t skipped = std::int64_t(first) * groups();
    return {values + std::int64_t(first) * columns, scales + skipped, offsets + skipped,
            std::min(count, rows - first),          columns,          group};
  }
};

/// Writes the products of all rows with the tile that begins at `tile`. sums: rows × int8_tile.
void int8_tile_product(const Int8Rows& x, const std::byte* tile, float* sums);

/// int8_tile_product() by the instruction that adds four products of 8 bits to 32 bits (AVX-512
/// VNNI), with the same bits.
/// requires  has_int8_dot()
void int8_tile_product_by_dot(const Int8Rows& x, const std::byte* tile, float* sums);

/// True if the processor has that instruction.
bool has_int8_dot();

}  // namespace sinter::kernel

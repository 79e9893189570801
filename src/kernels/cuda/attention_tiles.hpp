// SPDX-License-Identifier: Apache-2.0
// Attention of bfloat16 by tensor cores, in tiles as attention.hpp has them. A block of four warps has
// a tile of rows, of which each warp has one part of 16 rows or two, so that what it reads from shared
// memory is used for both, and goes over tiles of 64 rows of the other side, the next of which is on its
// way into shared memory meanwhile. Scores and weights stay in registers: the sums of one product are,
// as lanes have them, what the next one has on its left.
#pragma once
#include "hardware/cuda/sums.hpp"
#include "hardware/cuda/tensor_cores.hpp"
#include "kernels/cuda/attention.hpp"
#include "kernels/cuda/packs.hpp"

namespace sinter::kernel {

/// y and log_sum, by tensor cores.
/// requires  fits_tensor_cores()
void attend_by_tensor_cores(Stream& stream, const Forward<BFloat16>& in, const Dropout& dropout);
/// The gradients, by tensor cores. products: for those of keys, scratch of `heads` numbers for each
/// query.
/// requires  fits_tensor_cores()
void propagate_by_tensor_cores(Stream& stream, const Backward<BFloat16>& in,
                               const Gradients<BFloat16>& out, float* products,
                               const Dropout& dropout);

/// True if this binary's code for the card multiplies bfloat16 by tensor cores: from compute
/// capability 8.0 on.
bool has_tensor_cores();

/// True if there are kernels for heads of that width, and rows begin where 16 bytes can be copied
/// at once.
template <class... H>
bool fits_tensor_cores(int depth, const H&... heads) {
  constexpr int widest = 128, at_once = 8;
  const auto lies_so = [](const auto& head) {
    return head.row % at_once == 0 && reinterpret_cast<std::uintptr_t>(head.data) % 16 == 0;
  };
  return depth <= widest && depth % at_once == 0 && (lies_so(heads) && ...) && has_tensor_cores();
}

/// Calls call(std::integral_constant<int, D>()) for the narrowest kernel, whose heads are D wide, that
/// has room for heads of that width.
template <class F>
void with_depth(int depth, const F& call) {
  if (depth <= 32) return call(std::integral_constant<int, 32>());
  if (depth <= 64) return call(std::integral_constant<int, 64>());
  return call(std::integral_constant<int, 128>());
}

/// Rows of a part, and columns that are multiplied at once: of a head, or of rows of the other side.
inline constexpr int part_rows = 16, warps = 4, tile_threads = warps * warp;
/// Parts that a warp has: as many as there are registers for.
template <int Depth>
inline constexpr int warp_parts = Depth > 64 ? 1 : 2;
/// Rows of a warp.
template <int Depth>
inline constexpr int warp_rows = part_rows * warp_parts<Depth>;
/// Rows of the tile of a block.
template <int Depth>
inline constexpr int own_rows = warps * warp_rows<Depth>;

/// Blocks that a multiprocessor is to have registers for, or more.
inline constexpr int tile_blocks = 2;

/// A tile in shared memory, of rows that are Depth wide: its rows begin in other banks than the seven
/// before them, so that a matrix of 8 × 8 is in all banks.
template <int Depth>
struct TileRoom {
  static constexpr int pitch = Depth + 8, elements = tile_rows * pitch;
  BFloat16* at;

  /// Begins to copy n rows of a head, `row` elements from one to the next, and zeros for the rest of Rows.
  template <int Rows = tile_rows>
  __device__ void begin_copy_of(const BFloat16* from, int row, int n, int depth) const {
    constexpr int packs = Depth / 8, at_once = tile_threads / packs;
    static_assert(Rows % at_once == 0);
    const int first = int(threadIdx.x) / packs, c = int(threadIdx.x) % packs * 8;
    from += std::int64_t(first) * row + c;
    SINTER_UNROLL
    for (int r = 0; r < Rows; r += at_once, from += std::int64_t(at_once) * row)
      begin_copy<16>(at + (first + r) * pitch + c, from, first + r < n && c < depth);
  }
  /// Rows [r, r + 16) × columns [c, c + 16) for the left of a product.
  __device__ Left left(int r, int c) const {
    const int lane = int(threadIdx.x) % warp;
    Left left;
    load_matrices<false>(at + (r + lane % 16) * pitch + c + lane / 16 * 8, left.pairs);
    return left;
  }
  /// Rows [r, r + 16) × columns [c, c + 16) for the right of a product, as they lie.
  __device__ Right right(int r, int c) const {
    const int lane = int(threadIdx.x) % warp;
    Right right;
    load_matrices<true>(at + (r + lane % 16) * pitch + c + lane / 16 * 8, right.pairs);
    return right;
  }
  /// The same for the right of a product, transposed.
  __device__ Right transposed(int r, int c) const {
    const int lane = int(threadIdx.x) % warp;
    Right right;
    load_matrices<false>(at + (r + lane / 16 * 8 + lane % 8) * pitch + c + lane / 8 % 2 * 8,
                         right.pairs);
    return right;
  }
};

/// Rows of the tile that begins with row `first` of a range; none if it is behind the last.
__device__ __forceinline__ int rows_of_tile(const Range& range, int first) {
  return range.last - first < tile_rows ? range.last - first : tile_rows;
}

/// The tiles of keys and values that a block of queries goes over: of two there is room, in turns, so that
/// one may be on its way while the other is in use.
template <int Depth>
struct KeyTiles {
  using Room = TileRoom<Depth>;
  Heads<const BFloat16> k, v;
  BFloat16* rooms;     ///< for 4 tiles
  std::int64_t start;  ///< of the sequence's keys
  Range seen;          ///< by the queries
  std::int32_t head, depth;

  __device__ Room keys(int turn) const { return {rooms + 2 * turn * Room::elements}; }
  __device__ Room values(int turn) const { return {rooms + (2 * turn + 1) * Room::elements}; }
  /// Begins to copy the tile that begins with key `first`, if there is one, as a group.
  __device__ void fetch(int first, int turn) const {
    if (const int n = rows_of_tile(seen, first); n > 0) {
      keys(turn).begin_copy_of(k.of(start + first, head, depth), k.row, n, depth);
      values(turn).begin_copy_of(v.of(start + first, head, depth), v.row, n, depth);
    }
    end_group();
  }
};

/// The warp's first row of its block's tile.
template <int Depth>
__device__ __forceinline__ int warp_row() {
  return int(threadIdx.x) / warp * warp_rows<Depth>;
}
/// The lane's row of the first or other half of a part, of the rows of its warp.
__device__ __forceinline__ int lane_row(int part, int half) {
  return part * part_rows + half * 8 + int(threadIdx.x) % warp / 4;
}
/// The column of the lane's k-th sum of a product; its row is that of half k / 2.
__device__ __forceinline__ int column_of_sum(int k) { return int(threadIdx.x) % 4 * 2 + k % 2; }

/// What scores are multiplied by, to the base of 2.
__device__ __forceinline__ float score_scale(int depth) {
  return float(log2_e) / sqrtf(float(depth));
}

/// 2^x, by the unit for it: numbers below 2^-126 are zero.
__device__ __forceinline__ float power_of_two(float x) {
#ifdef __CUDACC__
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#else
  return exp2f(x);
#endif
}

/// The smaller one; NaN stays NaN.
__device__ __forceinline__ float smaller(float a, float b) {
#ifdef __CUDACC__
  float least;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(least) : "f"(a), "f"(b));
  return least;
#else
  return a > b ? b : a;
#endif
}

/// The sum over the four lanes that have a row, in each of them.
__device__ __forceinline__ float sum_of_row(float x) {
  x += __shfl_xor_sync(~0u, x, 1);
  return x + __shfl_xor_sync(~0u, x, 2);
}

/// What the lanes of two products of 16 × 8 have, as the left of the next.
__device__ __forceinline__ Left left_of(const Sums& first, const Sums& second) {
  return {{pair_of(first.x[0], first.x[1]), pair_of(first.x[2], first.x[3]),
           pair_of(second.x[0], second.x[1]), pair_of(second.x[2], second.x[3])}};
}

/// All columns of a warp's rows, for the left of products.
template <int Depth>
using Lefts = Left[warp_parts<Depth>][Depth / 16];
/// Sums of all columns of a head, for each of a warp's rows.
template <int Depth>
using RowSums = Sums[warp_parts<Depth>][Depth / 8];

template <int Depth>
__device__ __forceinline__ void load_lefts(const TileRoom<Depth>& room, Lefts<Depth>& lefts) {
  SINTER_UNROLL
  for (int part = 0; part < warp_parts<Depth>; ++part) {
    SINTER_UNROLL
    for (int c = 0; c < Depth / 16; ++c)
      lefts[part][c] = room.left(warp_row<Depth>() + part * part_rows, c * 16);
  }
}

/// Products of a warp's rows and 16 of the other side: the first 8 of them, and the others.
template <int Depth>
using Products = Sums[warp_parts<Depth>][2];

/// products = lefts · the transposed of rows [r, r + 16) of the other side.
template <int Depth>
__device__ __forceinline__ void multiply_rows(const Lefts<Depth>& lefts,
                                              const TileRoom<Depth>& other, int r,
                                              Products<Depth>& products) {
  SINTER_UNROLL
  for (auto& of_part : products) of_part[0] = of_part[1] = {};
  SINTER_UNROLL
  for (int c = 0; c < Depth / 16; ++c) {
    const Right right = other.transposed(r, c * 16);
    SINTER_UNROLL
    for (int part = 0; part < warp_parts<Depth>; ++part) {
      multiply_add(lefts[part][c], right, 0, products[part][0]);
      multiply_add(lefts[part][c], right, 1, products[part][1]);
    }
  }
}

/// sums += weights · rows [r, r + 16) of the other side; weights: as multiply_rows() left them.
template <int Depth>
__device__ __forceinline__ void add_rows(const Products<Depth>& weights,
                                         const TileRoom<Depth>& other, int r,
                                         RowSums<Depth>& sums) {
  Left lefts[warp_parts<Depth>];
  SINTER_UNROLL
  for (int part = 0; part < warp_parts<Depth>; ++part)
    lefts[part] = left_of(weights[part][0], weights[part][1]);
  SINTER_UNROLL
  for (int c = 0; c < Depth / 16; ++c) {
    const Right right = other.right(r, c * 16);
    SINTER_UNROLL
    for (int part = 0; part < warp_parts<Depth>; ++part) {
      multiply_add(lefts[part], right, 0, sums[part][2 * c]);
      multiply_add(lefts[part], right, 1, sums[part][2 * c + 1]);
    }
  }
}

/// True if each of a warp's queries, the first of which is `query`, sees each of n keys from `key`
/// on; likewise of a warp's keys and n queries.
__device__ __forceinline__ bool all_see(const Span& span, int most, int query, int queries, int key,
                                        int keys) {
  return sees(span, most, query, key + keys - 1) && sees(span, most, query + queries - 1, key);
}

/// True if none of those queries sees any of those keys.
__device__ __forceinline__ bool none_see(const Span& span, int most, int query, int queries,
                                         int key, int keys) {
  return span.causal != 0 && (key >= query + queries || key + keys <= query + 1 - most);
}

/// sums = each times the factor of its row.
template <int Depth>
__device__ __forceinline__ void scale_rows(RowSums<Depth>& sums,
                                           const float (&factors)[warp_parts<Depth>][2]) {
  SINTER_UNROLL
  for (int part = 0; part < warp_parts<Depth>; ++part) {
    SINTER_UNROLL
    for (Sums& s : sums[part]) {
      SINTER_UNROLL
      for (int k = 0; k < 4; ++k) s.x[k] *= factors[part][k / 2];
    }
  }
}

/// Puts the sums of the tile's first `count` rows, times a factor.
template <int Depth>
__device__ void put_rows(const RowSums<Depth>& sums, float factor, int count, int depth,
                         BFloat16* to, int row, bool add) {
  SINTER_UNROLL
  for (int part = 0; part < warp_parts<Depth>; ++part) {
    SINTER_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int r = warp_row<Depth>() + lane_row(part, half);
      if (r >= count) return;
      BFloat16* line = to + std::int64_t(r) * row + column_of_sum(0);
      SINTER_UNROLL
      for (int j = 0; j < Depth / 8; ++j) {
        if (j * 8 >= depth) break;
        Pack<BFloat16, 2> more{};
        if (add) more = load_pack<2>(line + j * 8);
        const float* x = sums[part][j].x + half * 2;
        *reinterpret_cast<std::uint32_t*>(line + j * 8) =
            pair_of(x[0] * factor + float(more.x[0]), x[1] * factor + float(more.x[1]));
      }
    }
  }
}

}  // namespace sinter::kernel

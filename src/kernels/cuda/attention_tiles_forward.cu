// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "hardware/cuda/maxima.hpp"
#ifdef __CUDACC__
#include "hardware/cuda/errors.hpp"
#endif
#include "kernels/cuda/attention_tiles.hpp"

namespace sinter::kernel {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The scores of a warp's rows and the keys of a tile, 16 keys after 16.
template <int Depth>
using Scores = Products<Depth>[tile_rows / 16];

/// The running softmax of the lane's two rows of a part, to the base of 2 (Milakov & Gimelshein 2018).
struct Softmax {
  float most[2] = {-infinity, -infinity}, sum[2] = {};  ///< not scaled; sum: of the lane's scores

  /// Turns scores into probabilities relative to the largest score so far. factors: what earlier
  /// results must be multiplied by.
  template <class Scores>
  __device__ void tile(Scores& scores, int part, float scale, float (&factors)[2]) {
    SINTER_UNROLL
    for (int half = 0; half < 2; ++half) {
      float largest = most[half];
      SINTER_UNROLL
      for (auto& products : scores) {
        SINTER_UNROLL
        for (Sums& s : products[part])
          largest = larger(largest, larger(s.x[2 * half], s.x[2 * half + 1]));
      }
      largest = larger(largest, __shfl_xor_sync(~0u, largest, 1));
      largest = larger(largest, __shfl_xor_sync(~0u, largest, 2));
      // A row that has seen no key yet has no largest score.
      const float base = largest == -infinity ? 0 : largest * scale;
      factors[half] = power_of_two(fused(most[half], scale, -base));
      float total = sum[half] * factors[half];
      SINTER_UNROLL
      for (auto& products : scores) {
        SINTER_UNROLL
        for (Sums& s : products[part]) {
          SINTER_UNROLL
          for (int k = 2 * half; k < 2 * half + 2; ++k)
            total += s.x[k] = power_of_two(fused(s.x[k], scale, -base));
        }
      }
      most[half] = largest;
      sum[half] = total;
    }
  }
};

/// A block has a tile of queries of a head. Drops is true with dropout.
template <int Depth, bool Drops>
__global__ void __launch_bounds__(tile_threads, tile_blocks)
    attend_to_tiles(Forward<BFloat16> in, Argument<Mask<float>> argument) {
  using Room = TileRoom<Depth>;
  const int depth = in.depth, head = int(blockIdx.y);
  const Tile mine = tile_of_block(in.queries, own_rows<Depth>);
  if (mine.count <= 0) return;
  const int start = in.keys.starts[mine.sequence];
  const int length = own_rows_of(in.keys, mine.sequence);
  const Range seen = keys_seen(in.span, mine, length);
  const std::int64_t at = std::int64_t(mine.start) + mine.first;
  const int most = in.span.max_seen(length), query = mine.first + warp_row<Depth>();
  const Mask<float> mask = *argument;
  const float scale = score_scale(depth);
  const KeyTiles<Depth> tiles{in.k, in.v, shared_memory<BFloat16>(), start, seen, head, depth};
  const Room own = tiles.keys(1);  // until the queries are in registers
  own.template begin_copy_of<own_rows<Depth>>(in.q.of(at, head, depth), in.q.row, mine.count,
                                              depth);
  end_group();
  tiles.fetch(seen.first, 0);
  wait_for_groups_but<1>();
  __syncthreads();
  Lefts<Depth> queries;
  load_lefts<Depth>(own, queries);
  Softmax softmax[warp_parts<Depth>];
  RowSums<Depth> y = {};
  int turn = 0;
  for (int first = seen.first; first < seen.last; first += tile_rows, turn ^= 1) {
    wait_for_groups_but<0>();
    __syncthreads();  // the tile is loaded, and its predecessor no longer needed
    tiles.fetch(first + tile_rows, turn ^ 1);
    if (warp_row<Depth>() >= mine.count) continue;
    if (none_see(in.span, most, query, warp_rows<Depth>, first, tile_rows)) continue;
    const int n = rows_of_tile(seen, first);
    const Room keys = tiles.keys(turn), values = tiles.values(turn);
    Scores<Depth> scores;
    SINTER_UNROLL
    for (int j = 0; j < tile_rows / 16; ++j) multiply_rows<Depth>(queries, keys, j * 16, scores[j]);
    // Calls body(score, part, half of its row, key of the tile) for each of the lane's scores.
    const auto each = [&](const auto& body) {
      SINTER_UNROLL
      for (int j = 0; j < tile_rows / 8; ++j) {
        SINTER_UNROLL
        for (int part = 0; part < warp_parts<Depth>; ++part) {
          SINTER_UNROLL
          for (int k = 0; k < 4; ++k)
            body(scores[j / 2][part][j % 2].x[k], part, k / 2, j * 8 + column_of_sum(k));
        }
      }
    };
    if (n < tile_rows || !all_see(in.span, most, query, warp_rows<Depth>, first, tile_rows))
      each([&](float& score, int part, int half, int key) {
        if ((key >= n) | !sees(in.span, most, query + lane_row(part, half), first + key))
          score = -infinity;
      });
    float factors[warp_parts<Depth>][2];
    SINTER_UNROLL
    for (int part = 0; part < warp_parts<Depth>; ++part)
      softmax[part].tile(scores, part, scale, factors[part]);
    if (Drops) {
      std::uint64_t row_keys[warp_parts<Depth>][2];
      SINTER_UNROLL
      for (int part = 0; part < warp_parts<Depth>; ++part)
        for (int half : {0, 1})
          row_keys[part][half] =
              row_key(for_head(mask.dropout, head), at + warp_row<Depth>() + lane_row(part, half));
      each([&](float& score, int part, int half, int key) {
        score = mask.apply(score, row_keys[part][half], first + key);
      });
    }
    scale_rows<Depth>(y, factors);
    SINTER_UNROLL
    for (int j = 0; j < tile_rows / 16; ++j) add_rows<Depth>(scores[j], values, j * 16, y);
  }
  float factors[warp_parts<Depth>][2];
  SINTER_UNROLL
  for (int part = 0; part < warp_parts<Depth>; ++part) {
    SINTER_UNROLL
    for (int half = 0; half < 2; ++half) {
      const float sum = sum_of_row(softmax[part].sum[half]);
      const int r = warp_row<Depth>() + lane_row(part, half);
      factors[part][half] = 1 / sum;
      if (threadIdx.x % 4 == 0 && r < mine.count)
        in.log_sum[(at + r) * in.heads + head] =
            softmax[part].most[half] * scale * float(ln_2) + logf(sum);
    }
  }
  scale_rows<Depth>(y, factors);
  put_rows<Depth>(y, 1, mine.count, depth, in.y.of(at, head, depth), in.y.row, false);
}

}  // namespace

bool has_tensor_cores() {
#ifdef __CUDACC__
  static const bool has = [] {
    cudaFuncAttributes code;
    check(cudaFuncGetAttributes(&code, attend_to_tiles<64, false>));
    return code.ptxVersion >= 80;
  }();
  return has;
#else
  return true;
#endif
}

void attend_by_tensor_cores(Stream& stream, const Forward<BFloat16>& in, const Dropout& dropout) {
  with_depth(in.depth, [&]<int Depth>(std::integral_constant<int, Depth>) {
    const Grid grid{{blocks_of(in.queries, own_rows<Depth>), unsigned(in.heads)},
                    tile_threads,
                    4 * TileRoom<Depth>::elements * int(sizeof(BFloat16))};
    const auto kernel =
        dropout.probability > 0 ? attend_to_tiles<Depth, true> : attend_to_tiles<Depth, false>;
    launch(stream, grid, kernel, in, stream.device().argument(Mask<float>(dropout)));
  });
}

}  // namespace sinter::kernel

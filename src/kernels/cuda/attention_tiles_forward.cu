// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "device/cuda/maxima.hpp"
#ifdef __CUDACC__
#include "device/cuda/errors.hpp"
#endif
#include "kernels/cuda/attention_tiles.hpp"

namespace sinter::kernel {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// The scores of a warp's rows and 64 keys: of the keys from 8 j on, those of [j].
using Scores = Sums[tile_rows / 8];

/// The running softmax of a lane's two rows, to the base of 2 (Milakov & Gimelshein 2018).
struct Softmax {
  float scale;                                          ///< of scores
  float most[2] = {-infinity, -infinity}, sum[2] = {};  ///< not scaled; sum: of the lane's scores

  /// Turns scores into probabilities relative to the largest score so far. factors: what earlier
  /// results must be multiplied by.
  __device__ void tile(Scores& scores, float (&factors)[2]) {
    SINTER_UNROLL
    for (int half = 0; half < 2; ++half) {
      float largest = most[half];
      SINTER_UNROLL
      for (Sums& s : scores) largest = larger(largest, larger(s.x[2 * half], s.x[2 * half + 1]));
      largest = larger(largest, __shfl_xor_sync(~0u, largest, 1));
      largest = larger(largest, __shfl_xor_sync(~0u, largest, 2));
      // A row that has seen no key yet has no largest score.
      const float base = largest == -infinity ? 0 : largest * scale;
      factors[half] = power_of_two(fused(most[half], scale, -base));
      float total = sum[half] * factors[half];
      SINTER_UNROLL
      for (Sums& s : scores) {
        SINTER_UNROLL
        for (int k = 2 * half; k < 2 * half + 2; ++k)
          total += s.x[k] = power_of_two(fused(s.x[k], scale, -base));
      }
      most[half] = largest;
      sum[half] = total;
    }
  }
};

/// A block has a tile of queries of a head. Drops: whether there is dropout.
template <int Depth, bool Drops>
__global__ void __launch_bounds__(tile_threads, tile_blocks<Depth>)
    attend_to_tiles(Forward<BFloat16> in, Told<Mask<float>> told) {
  using Room = TileRoom<Depth>;
  const int depth = in.depth, head = int(blockIdx.y);
  const Tile mine = tile_of_block(in.queries, tile_rows);
  if (mine.count <= 0) return;
  const int start = in.keys.starts[mine.sequence];
  const int length = in.keys.starts[mine.sequence + 1] - start;
  const Range seen = keys_seen(in.span, mine, length);
  const std::int64_t at = std::int64_t(mine.start) + mine.first;
  const int most = in.span.most_seen(length);
  const int warp_query = mine.first + int(threadIdx.x) / warp * warp_rows;
  const Mask<float> mask = *told;
  const float scale = float(log2_e / sqrt(double(depth)));
  // Queries, then keys and values, twice each.
  BFloat16* const rooms = shared_memory<BFloat16>();
  const Room own{rooms};
  const KeyTiles<Depth> tiles{in.k, in.v, rooms + Room::elements, start, seen, head, depth};
  own.begin_copy_of(in.q.of(at, head, depth), in.q.row, mine.count, depth);
  end_group();
  tiles.fetch(seen.first, 0);
  wait_for_groups_but<1>();
  __syncthreads();
  Left queries[Depth / 16];
  SINTER_UNROLL
  for (int c = 0; c < Depth / 16; ++c)
    queries[c] = own.left(int(threadIdx.x) / warp * warp_rows, c * 16);
  Softmax softmax{scale};
  Sums y[Depth / 8] = {};
  int turn = 0;
  for (int first = seen.first; first < seen.last; first += tile_rows, turn ^= 1) {
    tiles.fetch(first + tile_rows, turn ^ 1);
    wait_for_groups_but<1>();
    __syncthreads();
    const int n = tiles.rows(first);
    const Room keys = tiles.keys(turn), values = tiles.values(turn);
    Scores scores = {};
    SINTER_UNROLL
    for (int j = 0; j < tile_rows / 16; ++j)
      multiply_rows<Depth>(queries, keys, j * 16, scores[2 * j], scores[2 * j + 1]);
    const bool whole =
        n == tile_rows && all_see(in.span, most, warp_query, warp_rows, first, tile_rows);
    if (!whole) {
      SINTER_UNROLL
      for (int j = 0; j < tile_rows / 8; ++j) {
        SINTER_UNROLL
        for (int k = 0; k < 4; ++k) {
          const int key = j * 8 + column_of_sum(k), query = mine.first + row_of_sum(k);
          if ((key >= n) | !sees(in.span, most, query, first + key)) scores[j].x[k] = -infinity;
        }
      }
    }
    float factors[2];
    softmax.tile(scores, factors);
    if (Drops) {
      for (int half = 0; half < 2; ++half) {
        const std::uint64_t key = row_key(for_head(mask.dropout, head), at + lane_row() + half * 8);
        SINTER_UNROLL
        for (int j = 0; j < tile_rows / 8; ++j)
          for (int k = 2 * half; k < 2 * half + 2; ++k)
            scores[j].x[k] = mask.apply(scores[j].x[k], key, first + j * 8 + column_of_sum(k));
      }
    }
    SINTER_UNROLL
    for (Sums& s : y) {
      SINTER_UNROLL
      for (int k = 0; k < 4; ++k) s.x[k] *= factors[k / 2];
    }
    SINTER_UNROLL
    for (int j = 0; j < tile_rows / 16; ++j)
      add_rows<Depth>(left_of(scores[2 * j], scores[2 * j + 1]), values, j * 16, y);
    __syncthreads();  // the next tile but one is put where this one is
  }
  float factors[2];
  for (int half : {0, 1}) {
    const float sum = sum_of_row(softmax.sum[half]);
    const int r = lane_row() + half * 8;
    factors[half] = 1 / sum;
    if (threadIdx.x % 4 == 0 && r < mine.count)
      in.log_sum[(at + r) * in.heads + head] = softmax.most[half] * scale * float(ln_2) + logf(sum);
  }
  put_rows<Depth>(y, factors, mine.count, depth, in.y.of(at, head, depth), in.y.row, false);
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
    const Grid grid{{blocks_of(in.queries, tile_rows), unsigned(in.heads)},
                    tile_threads,
                    5 * TileRoom<Depth>::elements * int(sizeof(BFloat16))};
    const auto kernel =
        dropout.probability > 0 ? attend_to_tiles<Depth, true> : attend_to_tiles<Depth, false>;
    launch(stream, grid, kernel, in, stream.device().tell(Mask<float>(dropout)));
  });
}

}  // namespace sinter::kernel

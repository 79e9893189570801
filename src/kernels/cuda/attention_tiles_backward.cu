// SPDX-License-Identifier: Apache-2.0
// As in attention_backward.cu, but that dk and dv come of one kernel and dq of another, each of which
// computes p and ds anew, so that no sum depends on the order of blocks.
#include "kernels/cuda/attention_tiles.hpp"
#include "kernels/cuda/packs.hpp"

namespace sinter::kernel {
namespace {

/// dy · y of a row of a head, by the four lanes that have it.
__device__ __forceinline__ float product_of_row(const BFloat16* dy, const BFloat16* y, int depth) {
  constexpr int at_once = 8;
  float sum = 0;
  for (int c = int(threadIdx.x) % 4 * at_once; c < depth; c += 4 * at_once) {
    const Pack<BFloat16, at_once> a = load_pack<at_once>(dy + c), b = load_pack<at_once>(y + c);
    SINTER_UNROLL
    for (int k = 0; k < at_once; ++k) sum += float(a.x[k]) * float(b.x[k]);
  }
  return sum_of_row(sum);
}

/// products[row × heads + head] = dy · y
__global__ void multiply_heads_of(Heads<const BFloat16> dy, Heads<const BFloat16> y, int heads,
                                  int depth, std::int64_t n, float* products) {
  const std::int64_t i = (std::int64_t(blockIdx.x) * element_threads + threadIdx.x) / 4;
  const std::int64_t at = i < n ? i : n - 1;
  const int head = int(at % heads);
  const float product =
      product_of_row(dy.of(at / heads, head, depth), y.of(at / heads, head, depth), depth);
  if (threadIdx.x % 4 == 0 && i < n) products[i] = product;
}

/// What belongs to the queries of a tile: log_sum, dy y, and keys of dropout.
struct QueryRoom {
  static constexpr int bytes = tile_rows * 2 * int(sizeof(float) + sizeof(std::uint64_t) / 2);
  std::uint64_t* keys;
  float *log_sum, *products;

  __device__ explicit QueryRoom(std::byte* at)
      : keys(reinterpret_cast<std::uint64_t*>(at)),
        log_sum(reinterpret_cast<float*>(keys + tile_rows)),
        products(log_sum + tile_rows) {}
  /// Begins to copy what n queries of a head have, from query `at` of all on.
  template <bool Drops>
  __device__ void begin_copy_of(const Backward<BFloat16>& in, const float* all, std::int64_t at,
                                int n, int head, const Mask<float>& mask) const {
    const int r = int(threadIdx.x) % tile_rows;
    const std::int64_t from = (at + (r < n ? r : 0)) * in.heads + head;
    if (threadIdx.x < tile_rows) {
      begin_copy<4>(log_sum + r, in.log_sum + from, r < n);
      if (Drops) keys[r] = row_key(for_head(mask.dropout, head), at + r);
    } else {
      begin_copy<4>(products + r, all + from, r < n);
    }
  }
};
static_assert(tile_threads == 2 * tile_rows);

/// Makes p, with dropout, of a score, and ds of a slope, dy v.
template <bool Drops>
struct Weights {
  float scale;  ///< of scores, to the base of 2
  Mask<float> mask;

  __device__ __forceinline__ void make(float& score, float& slope, float log_sum, float product,
                                       std::uint64_t mask_key, int key) const {
    // A score may be rounded to far above the logarithm of the sum that it is part of.
    const float exponent = fused(score, scale, -float(log2_e) * log_sum);
    const float p = power_of_two(smaller(exponent, 0));
    if (Drops) slope = mask.apply(slope, mask_key, key);
    slope = p * (slope - product);
    score = Drops ? mask.apply(p, mask_key, key) : p;
  }
};

/// A block has a tile of keys of a head, and all heads of queries that share it.
template <int Depth, bool Drops>
__global__ void __launch_bounds__(tile_threads, tile_blocks<Depth>)
    sum_for_keys(Backward<BFloat16> in, const float* products, Told<Mask<float>> told,
                 Gradients<BFloat16> out) {
  using Room = TileRoom<Depth>;
  const int depth = in.depth, sharing = in.k.sharing, first_head = int(blockIdx.y) * sharing;
  const Tile mine = tile_of_block(in.keys, tile_rows);
  if (mine.count <= 0) return;
  const int start = in.queries.starts[mine.sequence];
  const int length = in.queries.starts[mine.sequence + 1] - start;
  const Range seeing = queries_seeing(in.span, mine, length);
  const std::int64_t at = std::int64_t(mine.start) + mine.first;
  const int most = in.span.most_seen(mine.length);
  const int warp_row = int(threadIdx.x) / warp * warp_rows;
  const Weights<Drops> weights{float(log2_e / sqrt(double(depth))), *told};
  // What belongs to queries, twice; keys and values; queries and dy, twice each.
  std::byte* const shared = shared_memory<std::byte>();
  BFloat16* const rooms = reinterpret_cast<BFloat16*>(shared + 2 * QueryRoom::bytes);
  const auto room = [=](int number) { return Room{rooms + number * Room::elements}; };
  const int tiles = (seeing.last - seeing.first + tile_rows - 1) / tile_rows;
  const auto fetch = [&](int tile) {
    if (tile < tiles * sharing) {
      const int head = first_head + tile / tiles, turn = tile % 2;
      const int first = seeing.first + tile % tiles * tile_rows;
      const int n = seeing.last - first < tile_rows ? seeing.last - first : tile_rows;
      const std::int64_t query = std::int64_t(start) + first;
      room(2 + 2 * turn).begin_copy_of(in.q.of(query, head, depth), in.q.row, n, depth);
      room(3 + 2 * turn).begin_copy_of(in.dy.of(query, head, depth), in.dy.row, n, depth);
      QueryRoom(shared + turn * QueryRoom::bytes)
          .template begin_copy_of<Drops>(in, products, query, n, head, weights.mask);
    }
    end_group();
  };
  room(0).begin_copy_of(in.k.of(at, first_head, depth), in.k.row, mine.count, depth);
  room(1).begin_copy_of(in.v.of(at, first_head, depth), in.v.row, mine.count, depth);
  end_group();
  fetch(0);
  wait_for_groups_but<1>();
  __syncthreads();
  Left keys[Depth / 16], values[Depth / 16];
  SINTER_UNROLL
  for (int c = 0; c < Depth / 16; ++c) {
    keys[c] = room(0).left(warp_row, c * 16);
    values[c] = room(1).left(warp_row, c * 16);
  }
  Sums dk[Depth / 8] = {}, dv[Depth / 8] = {};
  for (int tile = 0; tile < tiles * sharing; ++tile) {
    fetch(tile + 1);
    wait_for_groups_but<1>();
    __syncthreads();
    const int turn = tile % 2, first = seeing.first + tile % tiles * tile_rows;
    const int n = seeing.last - first < tile_rows ? seeing.last - first : tile_rows;
    const Room queries = room(2 + 2 * turn), dy = room(3 + 2 * turn);
    const QueryRoom of_queries(shared + turn * QueryRoom::bytes);
    SINTER_UNROLL_BY(2)
    for (int part = 0; part < tile_rows; part += 16) {
      Sums scores[2] = {}, slopes[2] = {};
      multiply_rows<Depth>(keys, queries, part, scores[0], scores[1]);
      multiply_rows<Depth>(values, dy, part, slopes[0], slopes[1]);
      const bool whole = n - part >= 16 &&
                         all_see(in.span, most, first + part, 16, mine.first + warp_row, warp_rows);
      SINTER_UNROLL
      for (int half = 0; half < 2; ++half) {
        SINTER_UNROLL
        for (int k = 0; k < 4; ++k) {
          const int c = part + half * 8 + column_of_sum(k), key = mine.first + row_of_sum(k);
          weights.make(scores[half].x[k], slopes[half].x[k], of_queries.log_sum[c],
                       of_queries.products[c], Drops ? of_queries.keys[c] : 0, key);
          if (!whole && ((c >= n) | !sees(in.span, most, first + c, key)))
            scores[half].x[k] = slopes[half].x[k] = 0;
        }
      }
      add_rows<Depth>(left_of(scores[0], scores[1]), dy, part, dv);
      add_rows<Depth>(left_of(slopes[0], slopes[1]), queries, part, dk);
    }
    __syncthreads();  // the next tile but one is put where this one is
  }
  const float scale = float(1 / sqrt(double(depth)));
  put_rows<Depth>(dk, {scale, scale}, mine.count, depth, out.dk.of(at, first_head, depth),
                  out.dk.row, out.add_to_keys);
  put_rows<Depth>(dv, {1, 1}, mine.count, depth, out.dv.of(at, first_head, depth), out.dv.row,
                  out.add_to_keys);
}

/// A block has a tile of queries of a head. It needs fewer registers than that of keys.
template <int Depth, bool Drops>
__global__ void __launch_bounds__(tile_threads, Depth > 64 ? 2 : 4)
    sum_for_queries(Backward<BFloat16> in, Told<Mask<float>> told, Gradients<BFloat16> out) {
  using Room = TileRoom<Depth>;
  const int depth = in.depth, head = int(blockIdx.y);
  const Tile mine = tile_of_block(in.queries, tile_rows);
  if (mine.count <= 0) return;
  const int start = in.keys.starts[mine.sequence];
  const int length = in.keys.starts[mine.sequence + 1] - start;
  const Range seen = keys_seen(in.span, mine, length);
  const std::int64_t at = std::int64_t(mine.start) + mine.first;
  const int most = in.span.most_seen(length);
  const int warp_row = int(threadIdx.x) / warp * warp_rows;
  const Weights<Drops> weights{float(log2_e / sqrt(double(depth))), *told};
  // Queries and dy; keys and values, twice each.
  BFloat16* const rooms = shared_memory<BFloat16>();
  const auto room = [=](int number) { return Room{rooms + number * Room::elements}; };
  const KeyTiles<Depth> tiles{in.k, in.v, rooms + 2 * Room::elements, start, seen, head, depth};
  room(0).begin_copy_of(in.q.of(at, head, depth), in.q.row, mine.count, depth);
  room(1).begin_copy_of(in.dy.of(at, head, depth), in.dy.row, mine.count, depth);
  end_group();
  tiles.fetch(seen.first, 0);
  wait_for_groups_but<1>();
  __syncthreads();
  Left queries[Depth / 16], dy[Depth / 16];
  SINTER_UNROLL
  for (int c = 0; c < Depth / 16; ++c) {
    queries[c] = room(0).left(warp_row, c * 16);
    dy[c] = room(1).left(warp_row, c * 16);
  }
  float log_sum[2], product[2];
  std::uint64_t mask_keys[2];
  for (int half : {0, 1}) {
    // Rows that the tile does not have are not put anywhere.
    const int r = lane_row() + half * 8;
    const std::int64_t query = at + (r < mine.count ? r : 0);
    product[half] =
        product_of_row(in.dy.of(query, head, depth), in.y.of(query, head, depth), depth);
    log_sum[half] = in.log_sum[query * in.heads + head];
    mask_keys[half] = row_key(for_head(weights.mask.dropout, head), query);
  }
  Sums dq[Depth / 8] = {};
  int turn = 0;
  for (int first = seen.first; first < seen.last; first += tile_rows, turn ^= 1) {
    tiles.fetch(first + tile_rows, turn ^ 1);
    wait_for_groups_but<1>();
    __syncthreads();
    const int n = tiles.rows(first);
    const Room keys = tiles.keys(turn), values = tiles.values(turn);
    SINTER_UNROLL_BY(2)
    for (int part = 0; part < tile_rows; part += 16) {
      Sums scores[2] = {}, slopes[2] = {};
      multiply_rows<Depth>(queries, keys, part, scores[0], scores[1]);
      multiply_rows<Depth>(dy, values, part, slopes[0], slopes[1]);
      const bool whole = n - part >= 16 &&
                         all_see(in.span, most, mine.first + warp_row, warp_rows, first + part, 16);
      SINTER_UNROLL
      for (int half = 0; half < 2; ++half) {
        SINTER_UNROLL
        for (int k = 0; k < 4; ++k) {
          const int c = part + half * 8 + column_of_sum(k), query = mine.first + row_of_sum(k);
          weights.make(scores[half].x[k], slopes[half].x[k], log_sum[k / 2], product[k / 2],
                       mask_keys[k / 2], first + c);
          if (!whole && ((c >= n) | !sees(in.span, most, query, first + c))) slopes[half].x[k] = 0;
        }
      }
      add_rows<Depth>(left_of(slopes[0], slopes[1]), keys, part, dq);
    }
    __syncthreads();  // the next tile but one is put where this one is
  }
  const float scale = float(1 / sqrt(double(depth)));
  put_rows<Depth>(dq, {scale, scale}, mine.count, depth, out.dq.of(at, head, depth), out.dq.row,
                  out.add_to_dq);
}

}  // namespace

void propagate_by_tensor_cores(Stream& stream, const Backward<BFloat16>& in,
                               const Gradients<BFloat16>& out, float* products,
                               const Dropout& dropout) {
  const Told<Mask<float>> mask = stream.device().tell(Mask<float>(dropout));
  if (out.dk.data) {
    const std::int64_t n = std::int64_t(in.queries.total) * in.heads;
    launch(stream, {blocks_of(n, element_threads / 4), element_threads}, multiply_heads_of, in.dy,
           in.y, in.heads, in.depth, n, products);
  }
  with_depth(in.depth, [&]<int Depth>(std::integral_constant<int, Depth>) {
    constexpr int bytes = 6 * TileRoom<Depth>::elements * int(sizeof(BFloat16));
    const bool drops = dropout.probability > 0;
    if (out.dk.data)
      launch(stream,
             {{blocks_of(in.keys, tile_rows), unsigned(in.heads / in.k.sharing)},
              tile_threads,
              bytes + 2 * QueryRoom::bytes},
             drops ? sum_for_keys<Depth, true> : sum_for_keys<Depth, false>, in, products, mask,
             out);
    if (out.dq.data)
      launch(stream, {{blocks_of(in.queries, tile_rows), unsigned(in.heads)}, tile_threads, bytes},
             drops ? sum_for_queries<Depth, true> : sum_for_queries<Depth, false>, in, mask, out);
  });
}

}  // namespace sinter::kernel

// SPDX-License-Identifier: Apache-2.0
// As in attention_backward.cu, but that dk and dv come of one kernel and dq of another, each of which
// computes p and ds anew, so that no sum depends on the order of blocks.
#include "kernels/cuda/attention_tiles.hpp"

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

/// The tiles of queries that a block of keys goes over, of one head after another that shares the keys.
struct QueryTiles {
  Range seeing;     ///< the keys, of each head
  int first, head;  ///< of the tile

  __device__ void step() {
    first += tile_rows;
    if (first < seeing.last) return;
    first = seeing.first;
    ++head;
  }
  __device__ int rows() const { return rows_of_tile(seeing, first); }
};

/// A block has a tile of keys of a head, and all heads of queries that share it.
template <int Depth, bool Drops>
__global__ void __launch_bounds__(tile_threads, tile_blocks)
    sum_for_keys(Backward<BFloat16> in, const float* products, Argument<Mask<float>> argument,
                 Gradients<BFloat16> out) {
  using Room = TileRoom<Depth>;
  constexpr int parts = warp_parts<Depth>;
  const int depth = in.depth, first_head = int(blockIdx.y) * in.k.sharing;
  const int last_head = first_head + in.k.sharing;
  const Tile mine = tile_of_block(in.keys, own_rows<Depth>);
  if (mine.count <= 0) return;
  const int start = in.queries.starts[mine.sequence];
  const int length = own_rows_of(in.queries, mine.sequence);
  const Range seeing = queries_seeing(in.span, mine, length);
  const std::int64_t at = std::int64_t(mine.start) + mine.first;
  const int most = in.span.max_seen(mine.length), first_key = mine.first + warp_row<Depth>();
  const Weights<Drops> weights{score_scale(depth), *argument};
  // What belongs to queries, twice; queries and dy, twice each.
  std::byte* const shared = shared_memory<std::byte>();
  BFloat16* const rooms = reinterpret_cast<BFloat16*>(shared + 2 * QueryRoom::bytes);
  const auto room = [=](int number) { return Room{rooms + number * Room::elements}; };
  QueryTiles next{seeing, seeing.first, first_head};
  const auto fetch_next = [&](int turn) {
    if (next.head == last_head) return;
    const std::int64_t query = std::int64_t(start) + next.first;
    const int n = next.rows(), head = next.head;
    room(2 * turn).begin_copy_of(in.q.of(query, head, depth), in.q.row, n, depth);
    room(2 * turn + 1).begin_copy_of(in.dy.of(query, head, depth), in.dy.row, n, depth);
    QueryRoom(shared + turn * QueryRoom::bytes)
        .template begin_copy_of<Drops>(in, products, query, n, head, weights.mask);
    end_group();
    next.step();
  };
  // Keys and values, until they are in registers; then the second turn of the others begins there.
  const Room own_keys = room(2);
  const Room own_values{own_keys.at + Room::pitch * own_rows<Depth>};
  own_keys.template begin_copy_of<own_rows<Depth>>(in.k.of(at, first_head, depth), in.k.row,
                                                   mine.count, depth);
  own_values.template begin_copy_of<own_rows<Depth>>(in.v.of(at, first_head, depth), in.v.row,
                                                     mine.count, depth);
  end_group();
  fetch_next(0);
  wait_for_groups_but<1>();
  __syncthreads();
  Lefts<Depth> keys, values;
  load_lefts<Depth>(own_keys, keys);
  load_lefts<Depth>(own_values, values);
  RowSums<Depth> dk = {}, dv = {};
  int turn = 0;
  for (QueryTiles tile{seeing, seeing.first, first_head}; tile.head < last_head;
       tile.step(), turn ^= 1) {
    wait_for_groups_but<0>();
    __syncthreads();  // the tile is loaded, and its predecessor no longer needed
    fetch_next(turn ^ 1);
    if (warp_row<Depth>() >= mine.count) continue;
    const int first = tile.first, n = tile.rows();
    const Room queries = room(2 * turn), dy = room(2 * turn + 1);
    const QueryRoom of_queries(shared + turn * QueryRoom::bytes);
    SINTER_UNROLL_BY(3 - parts)
    for (int row = 0; row < tile_rows; row += 16) {
      if (none_see(in.span, most, first + row, 16, first_key, warp_rows<Depth>)) continue;
      Products<Depth> scores, slopes;
      multiply_rows<Depth>(keys, queries, row, scores);
      multiply_rows<Depth>(values, dy, row, slopes);
      // Calls body(score, slope, query of the tile, key of the warp) for each of the lane's.
      const auto each = [&](const auto& body) {
        SINTER_UNROLL
        for (int half = 0; half < 2; ++half) {
          SINTER_UNROLL
          for (int part = 0; part < parts; ++part) {
            SINTER_UNROLL
            for (int k = 0; k < 4; ++k)
              body(scores[part][half].x[k], slopes[part][half].x[k],
                   row + half * 8 + column_of_sum(k), lane_row(part, k / 2));
          }
        }
      };
      each([&](float& score, float& slope, int query, int key) {
        weights.make(score, slope, of_queries.log_sum[query], of_queries.products[query],
                     Drops ? of_queries.keys[query] : 0, first_key + key);
      });
      if (n - row < 16 || !all_see(in.span, most, first + row, 16, first_key, warp_rows<Depth>))
        each([&](float& score, float& slope, int query, int key) {
          if ((query >= n) | !sees(in.span, most, first + query, first_key + key))
            score = slope = 0;
        });
      add_rows<Depth>(scores, dy, row, dv);
      add_rows<Depth>(slopes, queries, row, dk);
    }
  }
  put_rows<Depth>(dk, 1 / sqrtf(float(depth)), mine.count, depth, out.dk.of(at, first_head, depth),
                  out.dk.row, out.add_to_keys);
  put_rows<Depth>(dv, 1, mine.count, depth, out.dv.of(at, first_head, depth), out.dv.row,
                  out.add_to_keys);
}

/// A block has a tile of queries of a head.
template <int Depth, bool Drops>
__global__ void __launch_bounds__(tile_threads, tile_blocks)
    sum_for_queries(Backward<BFloat16> in, Argument<Mask<float>> argument,
                    Gradients<BFloat16> out) {
  using Room = TileRoom<Depth>;
  constexpr int parts = warp_parts<Depth>;
  const int depth = in.depth, head = int(blockIdx.y);
  const Tile mine = tile_of_block(in.queries, own_rows<Depth>);
  if (mine.count <= 0) return;
  const int start = in.keys.starts[mine.sequence];
  const int length = own_rows_of(in.keys, mine.sequence);
  const Range seen = keys_seen(in.span, mine, length);
  const std::int64_t at = std::int64_t(mine.start) + mine.first;
  const int most = in.span.max_seen(length), query = mine.first + warp_row<Depth>();
  const Weights<Drops> weights{score_scale(depth), *argument};
  // Queries and dy, until they are in registers, are where the second turn of the others begins.
  BFloat16* const rooms = shared_memory<BFloat16>();
  const KeyTiles<Depth> tiles{in.k, in.v, rooms, start, seen, head, depth};
  const Room own_queries{rooms + 2 * Room::elements};
  const Room own_dy{own_queries.at + Room::pitch * own_rows<Depth>};
  own_queries.template begin_copy_of<own_rows<Depth>>(in.q.of(at, head, depth), in.q.row,
                                                      mine.count, depth);
  own_dy.template begin_copy_of<own_rows<Depth>>(in.dy.of(at, head, depth), in.dy.row, mine.count,
                                                 depth);
  end_group();
  tiles.fetch(seen.first, 0);
  wait_for_groups_but<1>();
  __syncthreads();
  Lefts<Depth> queries, dy;
  load_lefts<Depth>(own_queries, queries);
  load_lefts<Depth>(own_dy, dy);
  float log_sum[parts][2], product[parts][2];
  std::uint64_t mask_keys[parts][2];
  SINTER_UNROLL
  for (int part = 0; part < parts; ++part)
    for (int half : {0, 1}) {
      // Rows that the tile does not have are not put anywhere.
      const int r = warp_row<Depth>() + lane_row(part, half);
      const std::int64_t row = at + (r < mine.count ? r : 0);
      product[part][half] =
          product_of_row(in.dy.of(row, head, depth), in.y.of(row, head, depth), depth);
      log_sum[part][half] = in.log_sum[row * in.heads + head];
      mask_keys[part][half] = row_key(for_head(weights.mask.dropout, head), row);
    }
  RowSums<Depth> dq = {};
  int turn = 0;
  for (int first = seen.first; first < seen.last; first += tile_rows, turn ^= 1) {
    wait_for_groups_but<0>();
    __syncthreads();  // the tile is loaded, and its predecessor no longer needed
    tiles.fetch(first + tile_rows, turn ^ 1);
    if (warp_row<Depth>() >= mine.count) continue;
    const int n = rows_of_tile(seen, first);
    const Room keys = tiles.keys(turn), values = tiles.values(turn);
    SINTER_UNROLL_BY(2)
    for (int row = 0; row < tile_rows; row += 16) {
      if (none_see(in.span, most, query, warp_rows<Depth>, first + row, 16)) continue;
      Products<Depth> scores, slopes;
      multiply_rows<Depth>(queries, keys, row, scores);
      multiply_rows<Depth>(dy, values, row, slopes);
      // Calls body(score, slope, part, half of its row, key of the tile) for each of the lane's.
      const auto each = [&](const auto& body) {
        SINTER_UNROLL
        for (int half = 0; half < 2; ++half) {
          SINTER_UNROLL
          for (int part = 0; part < parts; ++part) {
            SINTER_UNROLL
            for (int k = 0; k < 4; ++k)
              body(scores[part][half].x[k], slopes[part][half].x[k], part, k / 2,
                   row + half * 8 + column_of_sum(k));
          }
        }
      };
      each([&](float& score, float& slope, int part, int half, int key) {
        weights.make(score, slope, log_sum[part][half], product[part][half], mask_keys[part][half],
                     first + key);
      });
      if (n - row < 16 || !all_see(in.span, most, query, warp_rows<Depth>, first + row, 16))
        each([&](float&, float& slope, int part, int half, int key) {
          if ((key >= n) | !sees(in.span, most, query + lane_row(part, half), first + key))
            slope = 0;
        });
      add_rows<Depth>(slopes, keys, row, dq);
    }
  }
  put_rows<Depth>(dq, 1 / sqrtf(float(depth)), mine.count, depth, out.dq.of(at, head, depth),
                  out.dq.row, out.add_to_dq);
}

}  // namespace

void propagate_by_tensor_cores(Stream& stream, const Backward<BFloat16>& in,
                               const Gradients<BFloat16>& out, float* products,
                               const Dropout& dropout) {
  const Argument<Mask<float>> mask = stream.device().argument(Mask<float>(dropout));
  if (out.dk.data) {
    const std::int64_t n = std::int64_t(in.queries.total) * in.heads;
    launch(stream, {blocks_of(n, element_threads / 4), element_threads}, multiply_heads_of, in.dy,
           in.y, in.heads, in.depth, n, products);
  }
  with_depth(in.depth, [&]<int Depth>(std::integral_constant<int, Depth>) {
    // One turn of two tiles, and two of the block's own.
    constexpr int bytes =
        2 * TileRoom<Depth>::pitch * (tile_rows + own_rows<Depth>)*int(sizeof(BFloat16));
    const bool drops = dropout.probability > 0;
    if (out.dk.data)
      launch(stream,
             {{blocks_of(in.keys, own_rows<Depth>), unsigned(in.heads / in.k.sharing)},
              tile_threads,
              bytes + 2 * QueryRoom::bytes},
             drops ? sum_for_keys<Depth, true> : sum_for_keys<Depth, false>, in, products, mask,
             out);
    if (out.dq.data)
      launch(stream,
             {{blocks_of(in.queries, own_rows<Depth>), unsigned(in.heads)}, tile_threads, bytes},
             drops ? sum_for_queries<Depth, true> : sum_for_queries<Depth, false>, in, mask, out);
  });
}

}  // namespace sinter::kernel

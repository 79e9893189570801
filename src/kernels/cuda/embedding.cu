// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/embedding.hpp"

#include "hardware/cuda/sums.hpp"
#include "kernels/cuda/each_element.hpp"
#include "kernels/cuda/sequences.hpp"
#include "kernels/elements.hpp"
#include "sinter/kernels/elementwise.hpp"

namespace sinter::kernel {
namespace {

template <class T>
__global__ void take_rows(const std::int32_t* ids, const T* table, T* y, int width,
                          std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) {
    const std::int64_t row = i / width;
    y[i] = table[ids[row] * std::int64_t(width) + (i - row * width)];
  });
}

template <class T>
__global__ void add_rows(const T* x, const std::int32_t* ids, const T* table, T* y, int width,
                         std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) {
    const std::int64_t row = i / width, id = ids ? ids[row] : 0;
    y[i] = T(Wide<T>(x[i]) + Wide<T>(table[id * width + (i - row * width)]));
  });
}

template <class T>
__global__ void add_positions(const T* x, const T* table, Sequences sequences, T* y, int width,
                              std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) {
    const std::int64_t row = i / width, position = position_of(sequences, int(row));
    y[i] = T(Wide<T>(x[i]) + Wide<T>(table[position * width + (i - row * width)]));
  });
}

template <class T, class G>
__global__ void sum_positions(const T* dy, const std::int32_t* starts, int count, G* dtable,
                              int width, bool add, std::int64_t n) {
  for_each_element(n, [=](std::int64_t i) {
    const std::int64_t position = i / width, column = i - position * width;
    Wide<T> sum = add ? Wide<T>(dtable[i]) : Wide<T>(0);
    for (int s = 0; s < count; ++s) {
      const std::int64_t row = starts[s] + position;
      if (row < starts[s + 1]) sum += Wide<T>(dy[row * width + column]);
    }
    dtable[i] = G(sum);
  });
}

constexpr int warps = 4, columns_of_lane = 32, columns_of_warp = warp * columns_of_lane;
constexpr int ids_at_once = 8 * warp;

/// A warp has a row, and some columns. If the row is the first one that has its id, the warp finds
/// all others that do, some ids at a time, and sums their gradients in order: no list of rows is kept
/// anywhere. (In rows² / 32 steps at most, which are few beside the products of as many rows.)
template <class T, class G>
__global__ void sum_rows_of_ids(const std::int32_t* ids, const T* dy, G* dtable, int rows,
                                int width, bool add) {
  using S = Wide<T>;
  const int row = int(blockIdx.x) * warps + int(threadIdx.x) / warp;
  const int lane = int(threadIdx.x) % warp;
  if (row >= rows) return;
  const std::int32_t id = ids[row];
  for (int before = 0; before < row; before += ids_at_once) {
    bool found = false;
    SINTER_UNROLL
    for (int k = 0; k < ids_at_once / warp; ++k) {
      const int other = before + k * warp + lane;
      found |= other < row && ids[other] == id;
    }
    if (__any_sync(~0u, found)) return;
  }
  const int column = int(blockIdx.y) * columns_of_warp + lane;
  G* to = dtable + std::int64_t(id) * width;
  S sums[columns_of_lane] = {};
  SINTER_UNROLL
  for (int k = 0; k < columns_of_lane; ++k)
    if (add && column + k * warp < width) sums[k] = S(to[column + k * warp]);
  const auto add_row = [&](int r) {
    const T* from = dy + std::int64_t(r) * width + column;
    SINTER_UNROLL
    for (int k = 0; k < columns_of_lane; ++k)
      if (column + k * warp < width) sums[k] += S(from[k * warp]);
  };
  for (int first = row; first < rows; first += ids_at_once) {
    bool mine[ids_at_once / warp];
    SINTER_UNROLL
    for (int k = 0; k < ids_at_once / warp; ++k) {
      const int other = first + k * warp + lane;
      mine[k] = other < rows && ids[other] == id;
    }
    for (int k = 0; k < ids_at_once / warp; ++k) {
      unsigned found = __ballot_sync(~0u, mine[k]);
      for (int r = first + k * warp; found; ++r, found >>= 1)
        if (found & 1) add_row(r);
    }
  }
  SINTER_UNROLL
  for (int k = 0; k < columns_of_lane; ++k)
    if (column + k * warp < width) to[column + k * warp] = G(sums[k]);
}

}  // namespace

template <class T>
void embedding_forward(Stream& stream, Input<std::int32_t> ids, Input<T> table, Tensor<T> y) {
  launch(stream, grid_of_elements(y.size()), take_rows<T>, ids.data, table.data, y.data,
         int(y.columns), y.size());
}

template <class T>
void add_embedding_forward(Stream& stream, Input<T> x, Input<std::int32_t> ids, Input<T> table,
                           Tensor<T> y) {
  launch(stream, grid_of_elements(y.size()), add_rows<T>, x.data, ids.data, table.data, y.data,
         int(y.columns), y.size());
}

/// Uses no scratch: which one a contract gives hangs on G.
template <class T, class G>
void embedding_backward(Stream& stream, Input<std::int32_t> ids, Tensor<const T> dy,
                        Tensor<G> dtable, std::int32_t*) {
  if (!dtable.add) fill(stream, dtable.data, G(0), dtable.size());
  const int width = dtable.columns;
  launch(stream, {{blocks_of(dy.rows, warps), blocks_of(width, columns_of_warp)}, warps * warp},
         sum_rows_of_ids<T, G>, ids.data, dy.data, dtable.data, int(dy.rows), width,
         bool(dtable.add));
}

template <class T>
void position_forward(Stream& stream, Input<T> x, Input<T> table, Sequences sequences,
                      Tensor<T> y) {
  launch(stream, grid_of_elements(y.size()), add_positions<T>, x.data, table.data, sequences,
         y.data, int(y.columns), y.size());
}

template <class T, class G>
void position_backward(Stream& stream, Tensor<const T> dy, Sequences sequences, Tensor<G> dtable) {
  launch(stream, grid_of_elements(dtable.size()), sum_positions<T, G>, dy.data, sequences.starts,
         sequences.count, dtable.data, int(dtable.columns), bool(dtable.add), dtable.size());
}

#define SINTER_INSTANTIATE(T)                                                           \
  template void embedding_forward(Stream&, Input<std::int32_t>, Input<T>, Tensor<T>);   \
  template void add_embedding_forward(Stream&, Input<T>, Input<std::int32_t>, Input<T>, \
                                      Tensor<T>);                                       \
  template void position_forward(Stream&, Input<T>, Input<T>, Sequences, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T, G)                                                             \
  template void embedding_backward(Stream&, Input<std::int32_t>, Tensor<const T>, Tensor<G>, \
                                   std::int32_t*);                                           \
  template void position_backward(Stream&, Tensor<const T>, Sequences, Tensor<G>);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel

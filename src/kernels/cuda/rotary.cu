// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/rotary.hpp"

#include <numbers>

#include "hardware/cuda/maxima.hpp"
#include "kernels/cuda/each_element.hpp"
#include "kernels/cuda/each_row.hpp"
#include "kernels/cuda/sequences.hpp"
#include "kernels/elements.hpp"
#include "kernels/rotary_angles.hpp"

namespace sinter::kernel {
namespace {

/// By how much numbers i and i + depth / 2 of a head turn from one place to the next.
__device__ double frequency(const RotaryAngles& angles, int i, int depth) {
  const Rotary& rotary = angles.rotary;
  const double plain = pow(rotary.theta, -2. * i / depth), slow = plain / rotary.factor;
  if (rotary.scaling == RotaryScaling::none) return plain;
  if (rotary.scaling == RotaryScaling::linear) return slow;
  if (rotary.scaling == RotaryScaling::yarn) {
    const double ramp = (i - angles.ramp_begin) / (angles.ramp_end - angles.ramp_begin);
    const double share = ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
    return share * slow + (1 - share) * plain;
  }
  const double circles = rotary.original_positions * plain / (2 * std::numbers::pi);
  if (circles < rotary.low_frequency) return slow;
  if (circles > rotary.high_frequency) return plain;
  const double share =
      (circles - rotary.low_frequency) / (rotary.high_frequency - rotary.low_frequency);
  return (1 - share) * slow + share * plain;
}

/// Rows of the longest sequence, by one warp.
__global__ void find_longest(Sequences sequences, std::int32_t* longest) {
  int most = 0;
  for (int s = int(threadIdx.x); s < sequences.count; s += warp) {
    const int length = sequences.starts[s + 1] - sequences.starts[s];
    most = larger(most, length);
  }
  most = warp_max(most);
  if (threadIdx.x == 0) *longest = most;
}

/// The row of the table that has a row's angles.
__device__ __forceinline__ int angles_row(const Sequences& sequences, int row) {
  return sequences.before ? row : position_of(sequences, row);
}

/// A thread computes one angle in every stride-th row of the table.
template <class S>
__global__ void fill_table(Argument<RotaryAngles> angles, Sequences sequences,
                           const std::int32_t* longest, S* table, int depth) {
  const int half = depth / 2, i = int(blockIdx.x) * warp + int(threadIdx.x);
  if (i >= half) return;
  const double turn = frequency(*angles, i, depth), amplitude = angles->amplitude;
  const int stride = int(gridDim.y * blockDim.y);
  const int rows = sequences.before ? sequences.total : *longest;
  for (int r = int(blockIdx.y * blockDim.y + threadIdx.y); r < rows; r += stride) {
    const int p = sequences.before ? position_of(sequences, r) : r;
    S* row = table + std::int64_t(r) * depth;
    row[i] = S(amplitude * cos(p * turn));
    row[half + i] = S(amplitude * sin(p * turn));
  }
}

/// Turns the heads of a row, or does nothing if there is no y.
template <class T, class S>
__device__ void turn_heads(const T* x, const S* angles, T* y, int columns, int depth, S sign,
                           bool add) {
  if (!y) return;
  const int half = depth / 2;
  for_each_column(columns / 2, [=](int pair) {
    const int i = pair % half, at = pair / half * depth + i;
    const S cosine = angles[i], sine = sign * angles[half + i];
    const S a = S(x[at]), b = S(x[at + half]);
    put_element(y + at, fused(-b, sine, a * cosine), add);
    put_element(y + at + half, fused(a, sine, b * cosine), add);
  });
}

/// The operands of a row, or gradients of them.
template <class T>
struct Parts {
  T *q, *k, *v;
  std::int32_t q_columns, k_columns, v_columns;
  std::int32_t add_q = 0, add_k = 0, add_v = 0;

  __host__ __device__ int columns() const { return q_columns + k_columns + v_columns; }
  static __device__ T* row_of(T* x, int row, int columns) {
    return x ? x + std::int64_t(row) * columns : nullptr;
  }
};

template <class T, class S>
__global__ void forward_rows(Parts<const T> x, const S* table, int depth, Sequences sequences,
                             T* y) {
  const int row = row_of_warp();
  if (row >= sequences.total) return;
  const S* angles = table + std::int64_t(angles_row(sequences, row)) * depth;
  T* to = y + std::int64_t(row) * x.columns();
  turn_heads(x.row_of(x.q, row, x.q_columns), angles, to, x.q_columns, depth, S(1), false);
  to += x.q_columns;
  turn_heads(x.row_of(x.k, row, x.k_columns), angles, to, x.k_columns, depth, S(1), false);
  to += x.k_columns;
  const T* v = x.row_of(x.v, row, x.v_columns);
  for_each_column(x.v_columns, [=](int c) { to[c] = v[c]; });
}

template <class T, class S>
__global__ void backward_rows(const T* dy, const S* table, int depth, Sequences sequences,
                              Parts<T> dx) {
  const int row = row_of_warp();
  if (row >= sequences.total) return;
  const S* angles = table + std::int64_t(angles_row(sequences, row)) * depth;
  const T* from = dy + std::int64_t(row) * dx.columns();
  turn_heads(from, angles, dx.row_of(dx.q, row, dx.q_columns), dx.q_columns, depth, S(-1),
             dx.add_q);
  from += dx.q_columns;
  turn_heads(from, angles, dx.row_of(dx.k, row, dx.k_columns), dx.k_columns, depth, S(-1),
             dx.add_k);
  from += dx.k_columns;
  T* dv = dx.row_of(dx.v, row, dx.v_columns);
  if (!dv) return;
  const bool add = dx.add_v;
  for_each_column(dx.v_columns, [=](int c) { put_element(dv + c, S(from[c]), add); });
}

template <class T, class S>
__global__ void add_to_halves(const T* x, const S* table, int width, Sequences sequences, T* y) {
  const int row = row_of_warp(), half = width / 2;
  if (row >= sequences.total) return;
  const S* angles = table + std::int64_t(angles_row(sequences, row)) * width;
  const std::int64_t at = std::int64_t(row) * width;
  for_each_column(
      width, [=](int c) { y[at + c] = T(S(x[at + c]) + angles[c < half ? half + c : c - half]); });
}

}  // namespace

template <class S>
void rotary_table(Stream& stream, const Rotary& rotary, Sequences sequences, Tensor<S> table) {
  constexpr int rows = 8;
  constexpr unsigned max_row_blocks = 256;
  auto* longest = reinterpret_cast<std::int32_t*>(stream.device().scratch);
  launch(stream, {1, warp}, find_longest, sequences, longest);
  const unsigned across = blocks_of(table.columns / 2, warp);
  const unsigned down = std::clamp(blocks_of(sequences.total, rows), 1u, max_row_blocks);
  launch(stream, {{across, down}, {warp, rows}}, fill_table<S>,
         stream.device().argument(angles_of(rotary, int(table.columns))), sequences, longest,
         table.data, int(table.columns));
}

template <class T, class S>
void rotary_forward(Stream& stream, Input<T> q, Input<T> k, Input<T> v, Tensor<S> table,
                    Sequences sequences, Tensor<T> y) {
  const Parts<const T> parts{q.data, k.data, v.data, q.columns, k.columns, v.columns};
  launch(stream, grid_of_rows(sequences.total, y.columns / 2), forward_rows<T, S>, parts,
         table.data, int(table.columns), sequences, y.data);
}

template <class T, class S>
void rotary_backward(Stream& stream, Input<T> dy, int q_columns, int k_columns, Tensor<S> table,
                     Sequences sequences, Tensor<T> dq, Tensor<T> dk, Tensor<T> dv) {
  const Parts<T> parts{dq.data,   dk.data,   dv.data,
                       q_columns, k_columns, dy.columns - q_columns - k_columns,
                       dq.add,    dk.add,    dv.add};
  launch(stream, grid_of_rows(sequences.total, dy.columns / 2), backward_rows<T, S>, dy.data,
         table.data, int(table.columns), sequences, parts);
}

template <class T, class S>
void add_sinusoids(Stream& stream, Input<T> x, Tensor<S> table, Sequences sequences, Tensor<T> y) {
  launch(stream, grid_of_rows(sequences.total, y.columns), add_to_halves<T, S>, x.data, table.data,
         int(y.columns), sequences, y.data);
}

#define SINTER_INSTANTIATE(T)                                                                     \
  template void add_sinusoids(Stream&, Input<T>, Tensor<Wide<T>>, Sequences, Tensor<T>);          \
  template void rotary_forward(Stream&, Input<T>, Input<T>, Input<T>, Tensor<Wide<T>>, Sequences, \
                               Tensor<T>);                                                        \
  template void rotary_backward(Stream&, Input<T>, int, int, Tensor<Wide<T>>, Sequences,          \
                                Tensor<T>, Tensor<T>, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
template void rotary_table(Stream&, const Rotary&, Sequences, Tensor<float>);
template void rotary_table(Stream&, const Rotary&, Sequences, Tensor<double>);

}  // namespace sinter::kernel

// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/rotary.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"
#include "kernels/rotary_angles.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/rotary.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_ROTARY_TABLE
#define SINTER_ROTARY_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides.
template <class T>
struct RotaryTable {
  /// Turns `heads` heads of `depth` numbers that lie one after the other, each by the angles whose
  /// cosines and sines `angles` holds, or by their opposites.
  void (*turn)(const T* x, const Wide<T>* angles, T* y, int heads, int depth, bool opposite,
               bool add);
  void (*put)(const T* x, T* y, std::int64_t n, bool add);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

template <class T>
void turn(const T* x, const Wide<T>* angles, T* y, int heads, int depth, bool opposite, bool add) {
  const int half = depth / 2;
  const Wide<T> sign = opposite ? -1 : 1;
  for (int h = 0; h < heads; ++h, x += depth, y += depth)
    for_each<T>(half, [=](auto d, std::int64_t i) HWY_ATTR {
      const auto cos = hn::LoadU(d, angles + i);
      const auto sin = hn::Mul(hn::LoadU(d, angles + half + i), hn::Set(d, sign));
      const auto a = load(d, x + i), b = load(d, x + half + i);
      put(d, hn::NegMulAdd(b, sin, hn::Mul(a, cos)), y + i, add);
      put(d, hn::MulAdd(a, sin, hn::Mul(b, cos)), y + half + i, add);
    });
}

template <class T>
RotaryTable<T> make_table() {
  return {turn<T>, put_all<T, T>};
}
SINTER_TABLES(RotaryTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {

SINTER_DISPATCH(RotaryTable)

/// By how much numbers i and i + depth / 2 of a head turn from one place to the next.
double frequency(const RotaryAngles& angles, int i, int depth) {
  const Rotary& rotary = angles.rotary;
  const double plain = std::pow(rotary.theta, -2. * i / depth), slow = plain / rotary.factor;
  if (rotary.scaling == RotaryScaling::none) return plain;
  if (rotary.scaling == RotaryScaling::linear) return slow;
  if (rotary.scaling == RotaryScaling::yarn) {
    const double ramp = (i - angles.ramp_begin) / (angles.ramp_end - angles.ramp_begin);
    const double share = std::clamp(ramp, 0., 1.);
    return share * slow + (1 - share) * plain;
  }
  const double circles = rotary.original_positions * plain / (2 * std::numbers::pi);
  if (circles < rotary.low_frequency) return slow;
  if (circles > rotary.high_frequency) return plain;
  const double share =
      (circles - rotary.low_frequency) / (rotary.high_frequency - rotary.low_frequency);
  return (1 - share) * slow + share * plain;
}

/// Calls body(row, row of the table that has its angles) for all rows, in parts.
template <class F>
void for_each_row(Stream& stream, Sequences sequences, int columns, const F& body) {
  const std::int32_t* starts = sequences.starts;
  split_rows(stream, sequences.rows(), columns, [&](int begin, int end) {
    int s = int(std::upper_bound(starts, starts + sequences.count, begin) - starts) - 1;
    for (std::int64_t r = begin; r < end; ++r) {
      while (starts[s + 1] <= r) ++s;  // empty sequences are passed over
      body(r, sequences.before ? r : r - starts[s]);
    }
  });
}

}  // namespace

template <class S>
void rotary_table(Stream& stream, const Rotary& rotary, Sequences sequences, Tensor<S> table) {
  constexpr int cost = 32;  // of a sine and a cosine, in elements
  const int depth = table.columns, half = depth / 2;
  assert(depth % 2 == 0 && depth <= max_rotary_width);
  const RotaryAngles angles = angles_of(rotary, depth);
  double frequencies[max_rotary_width / 2];
  for (int i = 0; i < half; ++i) frequencies[i] = frequency(angles, i, depth);
  const auto fill = [&](std::int64_t row, std::int64_t position) {
    for (int i = 0; i < half; ++i) {
      const double angle = double(position) * frequencies[i];
      table.data[row * depth + i] = S(angles.amplitude * std::cos(angle));
      table.data[row * depth + half + i] = S(angles.amplitude * std::sin(angle));
    }
  };
  const std::int32_t *starts = sequences.starts, *before = sequences.before;
  if (before) {
    for (int s = 0; s < sequences.count; ++s)
      for (int r = starts[s]; r < starts[s + 1]; ++r) fill(r, before[s] + r - starts[s]);
    return;
  }
  int positions = 0;
  for (int s = 0; s < sequences.count; ++s)
    positions = std::max(positions, starts[s + 1] - starts[s]);
  split_rows(stream, positions, cost * half, [&](int begin, int end) {
    for (std::int64_t p = begin; p < end; ++p) fill(p, p);
  });
}

template <class T, class S>
void rotary_forward(Stream& stream, Input<T> q, Input<T> k, Input<T> v, Tensor<S> table,
                    Sequences sequences, Tensor<T> y) {
  const auto on_row = kernel::table<T>();
  const int depth = table.columns;
  for_each_row(stream, sequences, y.columns, [&](std::int64_t r, std::int64_t at) {
    const S* angles = table.data + at * depth;
    T* to = y.data + r * y.columns;
    for (const auto& x : {q, k}) {
      on_row.turn(x.data + r * x.columns, angles, to, x.columns / depth, depth, false, false);
      to += x.columns;
    }
    std::copy_n(v.data + r * v.columns, v.columns, to);
  });
}

template <class T, class S>
void rotary_backward(Stream& stream, Input<T> dy, int q_columns, int k_columns, Tensor<S> table,
                     Sequences sequences, Tensor<T> dq, Tensor<T> dk, Tensor<T> dv) {
  const auto on_row = kernel::table<T>();
  const int depth = table.columns;
  for_each_row(stream, sequences, dy.columns, [&](std::int64_t r, std::int64_t at) {
    const S* angles = table.data + at * depth;
    const T* from = dy.data + r * dy.columns;
    auto turn_back = [&](const Tensor<T>& dx, const T* x, int columns) {
      if (dx) on_row.turn(x, angles, dx.data + r * columns, columns / depth, depth, true, dx.add);
    };
    turn_back(dq, from, q_columns);
    turn_back(dk, from + q_columns, k_columns);
    const int v_columns = dy.columns - q_columns - k_columns;
    if (dv) on_row.put(from + q_columns + k_columns, dv.data + r * v_columns, v_columns, dv.add);
  });
}

template <class T, class S>
void add_sinusoids(Stream& stream, Input<T> x, Tensor<S> table, Sequences sequences, Tensor<T> y) {
  const int width = y.columns, half = width / 2;
  for_each_row(stream, sequences, width, [&](std::int64_t r, std::int64_t at) {
    const S *cosines = table.data + at * width, *sines = cosines + half;
    const T* from = x.data + r * width;
    T* to = y.data + r * width;
    for (int i = 0; i < half; ++i) {
      to[i] = T(from[i] + sines[i]);
      to[half + i] = T(from[half + i] + cosines[i]);
    }
  });
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
#endif  // HWY_ONCE

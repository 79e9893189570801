// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding (Su et al. 2021), in the order of Hugging Face's Llama: number i of a
// head of d numbers turns with number i + d / 2. T: float, double, BFloat16 or Float16, and S its
// Wide<T>. The bits are the same for every number of threads.
//
// Errors, with ε the epsilon of S: a number that is turned by an angle θ, a cos θ - b sin θ, is
// wrong by up to 2 ε (|a cos θ| + |b sin θ|) + 2⁻⁵⁰ θ (|a| + |b|), as angles are computed in double
// precision. A narrow T adds the rounding of what is stored, and an add flag adds one ε of the sum.
// What is copied is exact.
#pragma once
#include <string_view>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// How the angles of a model are changed that reads longer sequences than it was first trained on.
enum class RotaryScaling {
  none,
  linear,  ///< each is divided by `factor` (Chen et al. 2023)
  llama3,  ///< slow ones are divided by `factor`, fast ones stay (Llama 3.1)
};

/// The name of a scaling, as `describe` and files have it.
constexpr std::string_view name_of(RotaryScaling scaling) {
  switch (scaling) {
    case RotaryScaling::none:
      return "none";
    case RotaryScaling::linear:
      return "linear";
    case RotaryScaling::llama3:
      return "llama3";
  }
  return "";
}

/// The angles of rotary positions. Numbers i and i + d / 2 of a head of d turn by theta^(-2i / d)
/// from one place to the next, or by what the scaling makes of it.
struct Rotary {
  double theta = 10000;                         ///< the base of the angles
  RotaryScaling scaling = RotaryScaling::none;  ///< what is done to them
  double factor = 1;                            ///< of linear and llama3
  /// Of llama3: an angle is slow if it comes full circle fewer than `low_frequency` times in
  /// `original_positions` places, and fast if it does so more than `high_frequency` times.
  double low_frequency = 1, high_frequency = 4;
  int original_positions = 8192;  ///< see low_frequency
};

/// The most columns of a table of angles: the widest head that turns.
inline constexpr int most_rotary_width = 8192;

/// For each place p from 0 to that of the last row of the longest sequence, with θ_i the angle of
/// number i: table(p, i) = cos(p θ_i) and table(p, d / 2 + i) = sin(p θ_i), rounded once from
/// double precision. table: at least as many rows as there are such places × d, where d is even and
/// at most most_rotary_width; the rows beyond are left as they are.
template <class S>
void rotary_table(Stream& stream, const Rotary& rotary, Sequences sequences, Tensor<S> table);

/// y = q, k and v side by side, each head of q and k turned by the angles of its row's place in its
/// sequence: its numbers i and i + d / 2, a and b, become a cos - b sin and b cos + a sin.
///   q, k   rows × multiples of d
///   v      rows × any number of columns
///   table  as rotary_table made it for these sequences: … × d
///   y      rows × the columns of all three
template <class T, class S>
void rotary_forward(Stream& stream, Input<T> q, Input<T> k, Input<T> v, Tensor<S> table,
                    Sequences sequences, Tensor<T> y);

/// dq, dk and dv = gradients of q, k and v, or += with an add flag, each for itself: those of q and
/// k turn back. An empty one is not wanted. dy: as y, dq: rows × q_columns, dk: rows × k_columns,
/// dv: rows × what is left.
template <class T, class S>
void rotary_backward(Stream& stream, Input<T> dy, int q_columns, int k_columns, Tensor<S> table,
                     Sequences sequences, Tensor<T> dq, Tensor<T> dk, Tensor<T> dv);

/// y = x + the sines of the angles of its row's place in its sequence in the first half of the
/// columns, and their cosines in the second: the positions of Vaswani et al. (2017), in the order of
/// Hugging Face's Marian, rounded once from the sum in S. table: as rotary_table made it for these
/// sequences, as wide as x. x, y: rows × width, and may be the same.
template <class T, class S>
void add_sinusoids(Stream& stream, Input<T> x, Tensor<S> table, Sequences sequences, Tensor<T> y);

}  // namespace sinter::kernel

// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding (Su et al. 2021), in the order of Hugging Face's Llama: numbers i and
// i + d / 2 of a head of d numbers are rotated together. T: float, double, BFloat16 or Float16, and
// S its Wide<T>. The bits are the same for every number of threads.
//
// Errors, with ε the epsilon of S and angles computed in double precision. A rotated number
//   a cos θ - b sin θ errs by up to 2 ε (|a cos θ| + |b sin θ|) + 2⁻⁵⁰ θ (|a| + |b|),
// times the attention factor of the scaling.
// A narrow T adds the rounding of what is stored, and an add flag adds one ε of the sum. Copies are
// exact.
#pragma once
#include <string_view>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// How angles change in a model that reads longer sequences than it was first trained on.
enum class RotaryScaling {
  none,
  linear,   ///< each angle is divided by `factor` (Chen et al. 2023)
  llama3,   ///< slow angles are divided by `factor`, fast ones stay (Llama 3.1)
  dynamic,  ///< the base grows with the longest sequence ("dynamic NTK", as in transformers)
  yarn,     ///< as llama3 with another ramp, and longer queries and keys (Peng et al. 2023)
};

/// The name of a scaling in `describe` and in files.
constexpr std::string_view name_of(RotaryScaling scaling) {
  switch (scaling) {
    case RotaryScaling::none:
      return "none";
    case RotaryScaling::linear:
      return "linear";
    case RotaryScaling::llama3:
      return "llama3";
    case RotaryScaling::dynamic:
      return "dynamic";
    case RotaryScaling::yarn:
      return "yarn";
  }
  return "";
}

/// The angles of rotary positions. From one position to the next, numbers i and i + d / 2 of a head
/// of d are rotated by theta^(-2i / d), changed by the scaling.
struct Rotary {
  double theta = 10000;                         ///< the base of the angles
  RotaryScaling scaling = RotaryScaling::none;  ///< how the angles are changed
  double factor = 1;  ///< divisor of angles in linear, llama3 and yarn; of dynamic see `positions`
  /// Bounds in llama3: over `original_positions` positions, a slow angle makes fewer than
  /// `low_frequency` full turns, and a fast one more than `high_frequency`.
  double low_frequency = 1, high_frequency = 4;
  int original_positions = 8192;  ///< positions over which llama3 and yarn count full turns
  /// Rows of the longest sequence, which dynamic scaling is for. If they are r > 1 times
  /// `original_positions`, theta is multiplied by (factor r - factor + 1)^(d / (d - 2)).
  int positions = 0;
  /// Bounds in yarn, in full turns over `original_positions` positions: an angle with more than
  /// `beta_fast` stays, one with fewer than `beta_slow` is divided, and between them goes a ramp.
  double beta_fast = 32, beta_slow = 1;
  /// What yarn multiplies queries and keys by. 0: 0.1 m ln(factor) + 1 with m = 1 or, if `mscale`
  /// and `mscale_all_dim` are both above 0, the quotient of that with each of them as m.
  double attention_factor = 0, mscale = 0, mscale_all_dim = 0;
  bool truncate = true;  ///< true if yarn's ramp begins and ends at whole numbers of a head
};

/// The most columns of a table of angles: the width of the widest head that can be rotated.
inline constexpr int max_rotary_width = 8192;

/// table(p, i) = a cos(p θ_i) and table(p, d / 2 + i) = a sin(p θ_i) for each position p of the
/// longest sequence, with θ_i the angle of number i. The factor a is yarn's, and 1 without yarn.
/// Both are rounded once from double precision. table: at least one row for each position × d. d is
/// even and at most max_rotary_width, and not 2 with dynamic scaling. Further rows stay as they
/// are.
template <class S>
void rotary_table(Stream& stream, const Rotary& rotary, Sequences sequences, Tensor<S> table);

/// y = q, k and v side by side; heads of q and k are rotated by the angles of the row's position in
/// its sequence. Numbers i and i + d / 2, a and b, become a cos - b sin and b cos + a sin, of the
/// table's cosines and sines.
///   q, k   rows × multiples of d
///   v      rows × any number of columns
///   table  as rotary_table made it for these sequences: … × d
///   y      rows × the columns of all three
template <class T, class S>
void rotary_forward(Stream& stream, Input<T> q, Input<T> k, Input<T> v, Tensor<S> table,
                    Sequences sequences, Tensor<T> y);

/// dq, dk and dv = gradients of q, k and v, or += with its add flag for each; dq and dk are rotated
/// back. An empty one is not computed. dy: as y, dq: rows × q_columns, dk: rows × k_columns,
/// dv: rows × the other columns.
template <class T, class S>
void rotary_backward(Stream& stream, Input<T> dy, int q_columns, int k_columns, Tensor<S> table,
                     Sequences sequences, Tensor<T> dq, Tensor<T> dk, Tensor<T> dv);

/// y = x + sinusoidal positions (Vaswani et al. 2017), in the order of Hugging Face's Marian: the
/// sines of the angles of each row's position in the first half of the columns, their cosines in
/// the second. The sum in S is rounded once. table: as rotary_table made it for these sequences, as
/// wide as x. x, y: rows × width, and may be the same.
template <class T, class S>
void add_sinusoids(Stream& stream, Input<T> x, Tensor<S> table, Sequences sequences, Tensor<T> y);

}  // namespace sinter::kernel

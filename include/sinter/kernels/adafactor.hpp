// SPDX-License-Identifier: Apache-2.0
// Adafactor (Shazeer & Stern 2018) stores the second moments of a matrix as one number for each row
// and one for each column. The arithmetic is that of transformers' Adafactor.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sinter/kernels/optimizer.hpp"

namespace sinter {

struct AdafactorOptions {
  double lr = 1e-3;              ///< learning rate before the schedule; unused with relative_step
  double beta1 = 0;              ///< decay rate of the first moment; at 0 none is kept
  double decay = -0.8;           ///< beta2 is 1 - t^decay in step t, counted from 1
  double clip_threshold = 1;     ///< maximum root mean square (RMS) of an update, before the rate
  double weight_decay = 0;       ///< decoupled; matrices only
  double eps_square = 1e-30;     ///< added to each squared gradient
  double eps_scale = 1e-3;       ///< minimum RMS for scale_parameter
  bool scale_parameter = false;  ///< true if the rate is multiplied by the parameter's RMS
  bool relative_step = false;  ///< true if the rate is min(1/√t, 0.01), not lr, times the schedule
  bool warmup_init = false;    ///< true if relative_step's rate is min(1/√t, 10⁻⁶ t)
  SINTER_FIELDS((lr).at_least(0).adjustable(), (beta1).at_least(0).below(1), (decay).below(0),
                (clip_threshold).above(0).adjustable(), (weight_decay).at_least(0).adjustable(),
                (eps_square).above(0), (eps_scale).at_least(0), (scale_parameter), (relative_step),
                (warmup_init))
};

}  // namespace sinter

namespace sinter::kernel {

/// 1 - t^decay, where t counts steps from 1.
inline double adafactor_beta2(std::int64_t t, double decay = -0.8) {
  return 1 - std::pow(double(t), decay);
}

/// The rate of relative steps: min(1/√t, 0.01), or min(1/√t, 10⁻⁶ t) with `warmup`.
inline double adafactor_rate(std::int64_t t, bool warmup = false) {
  return std::min(1 / std::sqrt(double(t)), warmup ? 1e-6 * double(t) : 1e-2);
}

/// True if a tensor has one second moment for each row and one for each column. A vector has one
/// for each element.
constexpr bool adafactor_factored(int rows, int columns) { return rows > 1 && columns > 1; }

/// Floats that adafactor() needs as scratch.
constexpr std::int64_t adafactor_scratch(int rows, int columns) {
  const std::int64_t n = std::int64_t(rows) * columns;
  return adafactor_factored(rows, columns) ? std::int64_t{32} * columns + rows : n / 1024 + 1;
}

/// The moments of one tensor, and what its update needs beside them. All moments start at zero.
struct AdafactorMoments {
  float* row_square;     ///< `rows` elements; for a vector one for each element, v below
  float* column_square;  ///< `columns` elements; null for a vector
  float* mean;           ///< as large as the tensor; null where beta1 is 0
  float* scratch;        ///< adafactor_scratch(rows, columns) elements
};

/// Updates one tensor, rows × columns, at the rate lr of its span. With s = g² + eps_square and
/// R(x) the root mean square of x:
///   row = beta2 row + (1 - beta2) mean of s over the row; column likewise
///   u = g / √(row column / mean(row)); in a vector each s has a moving mean v, and u = g / √v
///   α = lr max(eps_scale, R(p)) with scale_parameter, else lr
///   u = α u / max(1, R(u) / clip_threshold); with beta1: u = mean = beta1 mean + (1 - beta1) u
///   p -= α weight_decay p; p -= u; copy = p, rounded
/// beta2 is adafactor_beta2(t) in step t. Of the span's decision only the scale is used. (M, G, S,
/// C) is (float, float, float, C), C = float, BFloat16 or Float16. The bits are the same for every
/// number of threads.
///
/// Errors of one step, with ε the epsilon of float and g the gradient times decision->scale:
///   row, column, v  (8 + √rows / 4 + √columns / 4) ε, relatively
///   u               (16 + √rows / 4 + √columns / 4) ε
///   p               one ε, and the error of u
/// (√: roundings are as good as random, Higham & Mary 2019.)
template <class M, class G, class S, class C>
void adafactor(const AdafactorOptions& options, const ParameterSpan<M, G, S, C>& span,
               const AdafactorMoments& moments, int rows, int columns);

}  // namespace sinter::kernel

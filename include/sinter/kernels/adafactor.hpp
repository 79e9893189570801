// SPDX-License-Identifier: Apache-2.0
// Adafactor (Shazeer & Stern 2018) stores the second moments of a matrix as one number for each row
// and one for each column. The arithmetic is that of transformers' Adafactor.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/decision.hpp"

namespace sinter::kernel {

/// Constants of one step of adafactor().
struct AdafactorStep {
  double lr;                           ///< the learning rate, or adafactor_rate(t)
  double beta1;                        ///< decay of the first moment; 0 if there is none
  double beta2;                        ///< adafactor_beta2(t)
  double eps_square = 1e-30;           ///< added to each squared gradient
  double eps_scale = 1e-3;             ///< the least scale of a parameter
  double clip_threshold = 1;           ///< the largest root mean square of an update
  double weight_decay = 0;             ///< p loses α weight_decay p, with α as in adafactor()
  const Decision* decision = nullptr;  ///< in the device's memory; only its scale is used
  bool scale_parameter = true;  ///< true if lr is multiplied by the parameter's root mean square
};

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

/// Updates one tensor, rows × columns. With s = g² + eps_square and R(x) the root mean square of x:
///   row = beta2 row + (1 - beta2) mean of s over the row; column likewise
///   u = g / √(row column / mean(row)); in a vector each s has a moving mean v, and u = g / √v
///   α = lr max(eps_scale, R(p)) with scale_parameter, else lr
///   u = α u / max(1, R(u) / clip_threshold); with beta1: u = mean = beta1 mean + (1 - beta1) u
///   p -= α weight_decay p; p -= u; copy = p, rounded
/// row_square holds `rows` elements and column_square `columns`; for a vector, row_square is v and
/// column_square is null.
/// mean is as large as master, and null where beta1 is 0; copy may be null. All moments start at
/// zero. scratch holds adafactor_scratch(rows, columns) elements. (M, G, C) is (float, float,
/// float), (float, float, BFloat16) or (float, float, Float16). The bits are the same for every
/// number of threads.
///
/// Errors of one step, with ε the epsilon of float and g the gradient times decision->scale:
///   row, column, v  (8 + √rows / 4 + √columns / 4) ε, relatively
///   u               (16 + √rows / 4 + √columns / 4) ε
///   p               one ε, and the error of u
/// (√: roundings are as good as random, Higham & Mary 2019.)
template <class M, class G, class C>
void adafactor(Stream& stream, M* master, const G* gradient, float* row_square,
               float* column_square, float* mean, C* copy, int rows, int columns,
               const AdafactorStep& step, float* scratch);

}  // namespace sinter::kernel

// SPDX-License-Identifier: Apache-2.0
// What only the device knows until a step is over: the sum of the losses, the norm of the gradients,
// and what follows from them. It is a place in the device's memory, which kernels write and read in
// the order of the stream, so that no step waits for the host.
#pragma once
#include <cstdint>
#include <limits>

#include "sinter/kernels/norm.hpp"

namespace sinter::kernel {

/// What the instruction `norm` yields and `update` obeys.
struct Decision {
  double loss = 0;  ///< the sum of the losses, of all ranks once the norm is taken
  /// How many ranks want to stop after this step, once the norm is taken; 0 where there is one rank.
  double stop_votes = 0;
  /// Of an evaluation over ranks: how many predictions there were, of all once it is over.
  double predictions = 0;
  BinnedSum squares{};  ///< Σ g² of all gradients, as they are
  double norm = 0;      ///< of all gradients, before clipping and without the loss scale
  double scale = 1;     ///< multiplies each gradient: it undoes the loss scale, and clips
  /// The largest magnitude that each gradient may then have.
  double limit = std::numeric_limits<double>::infinity();
  /// 1 if the step is applied: norm and loss are finite, and no guard refuses it. At 0 nothing is
  /// updated.
  std::int32_t applied = 1;

  /// How many numbers, from `loss` on, ranks with squares of their own sum: all up to `norm`.
  static constexpr int summed = 3 + BinnedSum::count;
};
static_assert(offsetof(Decision, stop_votes) == sizeof(double) &&
              offsetof(Decision, predictions) == 2 * sizeof(double) &&
              offsetof(Decision, norm) == Decision::summed * sizeof(double));

/// How gradients are bounded.
struct ClippingRule {
  /// Of the global norm: gradients are multiplied by bound / (norm + 1e-6) where that is below 1, as
  /// torch.nn.utils.clip_grad_norm_ does.
  double bound = std::numeric_limits<double>::infinity();
  /// Of each gradient's magnitude.
  double limit = std::numeric_limits<double>::infinity();
};

/// Follows from decision->squares and ->loss: norm, applied, and by the rule scale and limit.
/// loss_scale is what the gradients are multiplied by.
void decide(Stream& stream, const ClippingRule& rule, double loss_scale, Decision* decision);

/// Bounds above which a step that is finite is refused.
struct StepBounds {
  double loss = std::numeric_limits<double>::infinity();  ///< of the mean loss
  double norm = std::numeric_limits<double>::infinity();  ///< of the gradients' norm
};

/// Clears decision->applied where loss_weight · decision->loss, or decision->norm, is above its bound.
void refuse_above(Stream& stream, const StepBounds& bounds, double loss_weight, Decision* decision);

/// y[i] = factor · decision->scale · gradient[i], the product of the first two rounded to float.
void scale_gradient(Stream& stream, const float* gradient, double factor, const Decision* decision,
                    float* y, std::int64_t n);

}  // namespace sinter::kernel

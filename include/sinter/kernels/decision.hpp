// SPDX-License-Identifier: Apache-2.0
// What only the device knows until a step is over: the sum of the losses, the norm of the gradients,
// and what follows from them. It is a place in the device's memory, which kernels write and read in
// the order of the stream, so that no step waits for the host.
#pragma once
#include <cstdint>
#include <limits>

#include "sinter/kernels/norm.hpp"

namespace sinter::kernel {

/// What ranks that are processes say to each other in the exchange that each step has anyway: each says 1 or
/// 0, and all learn how many say so.
struct Votes {
  double stop = 0;    ///< the training is to stop
  double save = 0;    ///< a checkpoint is to be saved after this step
  double done = 0;    ///< of the checkpoint that is being saved, this rank's part is on the disk
  double failed = 0;  ///< likewise, but it has failed

  static constexpr int count = 4;  ///< fields
  bool operator==(const Votes&) const = default;
};
static_assert(sizeof(Votes) == Votes::count * sizeof(double));

/// What the instruction `norm` yields and `update` obeys.
struct Decision {
  double loss = 0;  ///< the sum of the losses, of all ranks once the norm is taken
  Votes votes{};    ///< this rank's; of all ranks once the norm is taken
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

  // How many numbers ranks sum, from `loss` on:
  static constexpr int up_to_votes = 1 + Votes::count;       ///< where all have the same gradients
  static constexpr int up_to_predictions = up_to_votes + 1;  ///< of an evaluation
  static constexpr int up_to_squares =
      up_to_predictions + BinnedSum::count;  ///< where each has its own
};
static_assert(offsetof(Decision, votes) == sizeof(double) &&
              offsetof(Decision, predictions) == Decision::up_to_votes * sizeof(double) &&
              offsetof(Decision, norm) == Decision::up_to_squares * sizeof(double));

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

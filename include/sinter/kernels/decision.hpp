// SPDX-License-Identifier: Apache-2.0
// The decision of a step: the sum of the losses, the norm of the gradients, and whether the update
// is applied. Kernels write and read it in the device's memory, in the order of the stream, so that
// no step waits for the host.
#pragma once
#include <cstdint>
#include <limits>

#include "sinter/kernels/norm.hpp"

namespace sinter::kernel {

/// What each rank that is a process wishes or reports in a step, 1 or 0 each, so that all ranks act
/// alike. Ranks exchange it with the step's sums; afterwards each holds the sums of all votes.
struct Votes {
  double stop = 0;    ///< 1 to stop the training
  double save = 0;    ///< 1 to save a checkpoint after this step
  double done = 0;    ///< 1 if this rank's part of the checkpoint being saved is on the disk
  double failed = 0;  ///< 1 if saving this rank's part of the checkpoint has failed

  static constexpr int count = 4;  ///< number of votes
  bool operator==(const Votes&) const = default;
};
static_assert(sizeof(Votes) == Votes::count * sizeof(double));

/// The measurements and decision of a step: the instruction `norm` writes it and `update` follows
/// it.
struct Decision {
  double loss = 0;  ///< sum of this rank's losses; of all ranks once the norm is taken
  Votes votes{};    ///< votes of this rank; sums over all ranks once the norm is taken
  /// Number of predictions of this rank in an evaluation; of all ranks once the evaluation is over.
  double predictions = 0;
  BinnedSum squares{};  ///< Σ g² of all gradients, before clipping and with the loss scale
  double norm = 0;      ///< norm of all gradients, before clipping and without the loss scale
  double scale = 1;     ///< factor of each gradient: it undoes the loss scale, and clips
  /// Bound to which the magnitude of each scaled gradient is clamped.
  double limit = std::numeric_limits<double>::infinity();
  /// 1 if the step is applied: norm and loss are finite, and no guard refuses it. If 0, nothing is
  /// updated.
  std::int32_t applied = 1;

  // Number of values, from `loss` on, that ranks sum:
  static constexpr int up_to_votes =
      1 + Votes::count;  ///< leading doubles that ranks with equal gradients sum up
  static constexpr int up_to_predictions =
      up_to_votes + 1;  ///< leading doubles summed in an evaluation
  static constexpr int up_to_squares =
      up_to_predictions +
      BinnedSum::count;  ///< leading doubles summed if each rank adds squares of its own
};
static_assert(offsetof(Decision, votes) == sizeof(double) &&
              offsetof(Decision, predictions) == Decision::up_to_votes * sizeof(double) &&
              offsetof(Decision, norm) == Decision::up_to_squares * sizeof(double));

/// Bounds to which gradients are clipped, as a clipping policy chooses them.
struct ClippingRule {
  /// Bound of the global norm: gradients are multiplied by bound / (norm + 1e-6) if that is below
  /// 1, as torch.nn.utils.clip_grad_norm_ does.
  double bound = std::numeric_limits<double>::infinity();
  /// Bound of each gradient's magnitude.
  double limit = std::numeric_limits<double>::infinity();
};

/// Computes norm and applied from decision->squares and ->loss, and scale and limit by the rule.
/// loss_scale is the factor that the gradients carry.
void decide(Stream& stream, const ClippingRule& rule, double loss_scale, Decision* decision);

/// Bounds above which a step that is finite is refused.
struct StepBounds {
  double loss = std::numeric_limits<double>::infinity();  ///< bound of the mean loss
  double norm = std::numeric_limits<double>::infinity();  ///< bound of the gradients' norm
};

/// Clears decision->applied where loss_weight · decision->loss, or decision->norm, is above its
/// bound.
void refuse_above(Stream& stream, const StepBounds& bounds, double loss_weight, Decision* decision);

/// y[i] = factor · decision->scale · gradient[i], the product of the first two rounded to float.
void scale_gradient(Stream& stream, const float* gradient, double factor, const Decision* decision,
                    float* y, std::int64_t n);

}  // namespace sinter::kernel

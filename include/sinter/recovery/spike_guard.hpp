// SPDX-License-Identifier: Apache-2.0
// The slot `guard`: which steps go wrong although their numbers are finite. What is done with them
// is up to the slot `recovery`.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sinter/policy/concepts.hpp"
#include "sinter/program/kinds.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {

namespace slot {
/// Which steps are refused although their numbers are finite (SpikeGuard).
struct guard {
  static constexpr std::string_view name = "guard";
  static constexpr bool decisive = false;
};
}  // namespace slot

struct SpikeGuardOptions {
  double sigma = 6;   ///< deviations above the mean that are no spike yet
  int window = 128;   ///< steps that the mean and the deviation are about
  int warmup = 64;    ///< steps of a run that are never refused
  bool norms = true;  ///< the gradient's norm is looked at, too
  SINTER_FIELDS((sigma).above(0).adjustable(), (window).at_least(2).adjustable(),
                (warmup).at_least(2).adjustable(), (norms).adjustable())
};

struct SpikeGuardState {
  std::int64_t steps = 0;    ///< that mean and variance are of
  double loss_mean = 0;      ///< of the newest losses
  double loss_variance = 0;  ///< likewise
  double norm_mean = 0;      ///< of the newest norms of the gradient
  double norm_variance = 0;  ///< likewise
  SINTER_FIELDS((steps), (loss_mean), (loss_variance), (norm_mean), (norm_variance))
};

/// The largest number that is no spike.
inline double spike_bound(double sigma, double mean, double variance) {
  return mean + sigma * std::sqrt(variance);
}

/// Adds a number to a mean and variance in which it has this weight, and older ones less and less
/// (Finch 2009, Incremental calculation of weighted mean and variance).
inline void add_weighted(double number, double weight, double& mean, double& variance) {
  const double difference = number - mean, change = weight * difference;
  mean += change;
  variance = (1 - weight) * (variance + difference * change);
  variance = std::min(variance, std::numeric_limits<double>::max());  ///< files know no infinity
}

namespace touches {
/// Decides.
constexpr void guard(const Model&, const Instruction&, TouchList& out) {
  decision(Use::modify, out);
}
}  // namespace touches

namespace executes {
template <class Policy>
void guard(Machine& machine, const Bound&) {
  kernel::refuse_above(machine.stream(),
                       Policy::bounds(machine.options<Policy>(), machine.state<Policy>()),
                       machine.loss_weight(), machine.decision());
}
}  // namespace executes

/// The kind of an instruction after `norm`, which has the update pass over a step that is above the
/// policy's bounds.
template <class Policy>
inline constexpr Kind guard_kind{"guard", touches::guard, executes::guard<Policy>, Role::guard};

/// Refuses a step whose loss, or gradient's norm, lies more than `sigma` deviations above its mean
/// over the last steps: nothing is updated, and the recipe's recovery says how to go on (training
/// stops if it has none). The test is that of OLMo 2's optimizer (OLMo team 2024, SkipStepOptimizer:
/// 6 deviations, 128 steps); the means are exponentially weighted, 1 / window for the newest, and a
/// refused step counts in them as one at the bound (as in ZClip, Kumar et al. 2025), so that a
/// lasting change is accepted in the end.
template <SpikeGuardOptions O = {}>
struct SpikeGuard {
  using slot = slot::guard;
  using Options = SpikeGuardOptions;
  using State = SpikeGuardState;
  static constexpr Options options = O;

  /// Above which a step is a spike, as mean and deviation were before it.
  static kernel::StepBounds bounds(const Options& o, const State& s) {
    kernel::StepBounds bounds;
    if (s.steps < o.warmup) return bounds;
    bounds.loss = spike_bound(o.sigma, s.loss_mean, s.loss_variance);
    if (o.norms) bounds.norm = spike_bound(o.sigma, s.norm_mean, s.norm_variance);
    return bounds;
  }

  static bool after_step(const Options& o, State& s, const StepFigures& step) {
    if (!step.finite()) return false;
    const bool bounded = s.steps >= o.warmup;
    const double weight = 1 / double(std::min<std::int64_t>(++s.steps, o.window));
    auto add = [&](double number, double& mean, double& variance) {
      if (bounded) number = std::min(number, spike_bound(o.sigma, mean, variance));
      add_weighted(number, weight, mean, variance);
    };
    add(step.loss, s.loss_mean, s.loss_variance);
    add(step.gradient_norm, s.norm_mean, s.norm_variance);
    return false;
  }

  static constexpr Program rewrite(const Model&, Program program) {
    const auto norm = std::ranges::find_if(
        program, [](const Instruction& i) { return i.kind->role == Role::norm; });
    program.insert(norm + 1, {&guard_kind<SpikeGuard>});
    return program;
  }
};

}  // namespace sinter

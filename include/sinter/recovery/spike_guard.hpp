// SPDX-License-Identifier: Apache-2.0
// The slot `guard`: which steps fail although their numbers are finite. The slot `recovery` chooses
// what is done with them.
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
/// The slot of SpikeGuard, which refuses steps although their numbers are finite.
struct guard {
  static constexpr std::string_view name = "guard";
  static constexpr bool decisive = false;
};
}  // namespace slot

struct SpikeGuardOptions {
  double sigma = 6;   ///< a spike lies more than this many deviations above the mean
  int window = 128;   ///< steps that mean and deviation cover
  int warmup = 64;    ///< first steps of a run, which are never refused
  bool norms = true;  ///< true if the gradient's norm is tested, too
  SINTER_FIELDS((sigma).above(0).adjustable(), (window).at_least(2).adjustable(),
                (warmup).at_least(2).adjustable(), (norms).adjustable())
};

struct SpikeGuardState {
  std::int64_t steps = 0;    ///< number of steps in mean and variance
  double loss_mean = 0;      ///< mean of the newest losses
  double loss_variance = 0;  ///< variance of the same numbers
  double norm_mean = 0;      ///< mean of the newest gradient norms
  double norm_variance = 0;  ///< variance of the same numbers
  SINTER_FIELDS((steps), (loss_mean), (loss_variance), (norm_mean), (norm_variance))
};

namespace detail {
/// The largest number that is not a spike.
inline double spike_bound(double sigma, double mean, double variance) {
  return mean + sigma * std::sqrt(variance);
}

/// Adds a number with this weight to an exponentially weighted mean and variance (Finch 2009,
/// Incremental calculation of weighted mean and variance).
inline void add_weighted(double number, double weight, double& mean, double& variance) {
  const double difference = number - mean, change = weight * difference;
  mean += change;
  variance = (1 - weight) * (variance + difference * change);
  variance = std::min(variance, std::numeric_limits<double>::max());  ///< files know no infinity
}
}  // namespace detail

namespace touches {
/// States that a guard changes the decision of the step.
constexpr void guard(const Model&, const Instruction&, TouchList& out) {
  decision(Use::modify, out);
}
}  // namespace touches

namespace detail {
namespace executes {
template <class Policy>
void guard(Machine& machine, const Bound&) {
  kernel::refuse_above(machine.stream(),
                       Policy::bounds(machine.options<Policy>(), machine.state<Policy>()),
                       machine.loss_weight(), machine.decision());
}
}  // namespace executes

/// The kind of the instruction after `norm` that refuses a step above the policy's bounds; the
/// update then does nothing.
template <class Policy>
inline constexpr Kind guard_kind{"guard", touches::guard, executes::guard<Policy>, Role::guard};
}  // namespace detail

/// Refuses a step whose loss, or gradient norm, is more than `sigma` deviations above its mean over
/// the last steps. Nothing is updated, and the recipe's recovery policy reacts; without one,
/// training stops. The test is that of OLMo 2's optimizer (OLMo team 2024, SkipStepOptimizer: 6
/// deviations, 128 steps). Means are exponentially weighted, 1 / window for the newest number. A
/// refused step counts as one at the bound (as in ZClip, Kumar et al. 2025), so a lasting change is
/// eventually accepted.
template <SpikeGuardOptions O = {}>
struct SpikeGuard {
  using slot = slot::guard;
  using Options = SpikeGuardOptions;
  using State = SpikeGuardState;
  static constexpr Options options = O;

  /// The bounds above which a step is a spike, from mean and deviation before it.
  static kernel::StepBounds bounds(const Options& o, const State& s) {
    kernel::StepBounds bounds;
    if (s.steps < o.warmup) return bounds;
    bounds.loss = detail::spike_bound(o.sigma, s.loss_mean, s.loss_variance);
    if (o.norms) bounds.norm = detail::spike_bound(o.sigma, s.norm_mean, s.norm_variance);
    return bounds;
  }

  static bool after_step(const Options& o, State& s, const StepFigures& step) {
    if (!step.finite()) return false;
    const bool bounded = s.steps >= o.warmup;
    const double weight = 1 / double(std::min<std::int64_t>(++s.steps, o.window));
    auto add = [&](double number, double& mean, double& variance) {
      if (bounded) number = std::min(number, detail::spike_bound(o.sigma, mean, variance));
      detail::add_weighted(number, weight, mean, variance);
    };
    add(step.loss, s.loss_mean, s.loss_variance);
    add(step.gradient_norm, s.norm_mean, s.norm_variance);
    return false;
  }

  static constexpr Program rewrite(const Model&, Program program) {
    const auto norm = std::ranges::find_if(
        program, [](const Instruction& i) { return i.kind->role == Role::norm; });
    program.insert(norm + 1, {&detail::guard_kind<SpikeGuard>});
    return program;
  }
};

}  // namespace sinter

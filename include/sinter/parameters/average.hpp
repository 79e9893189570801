// SPDX-License-Identifier: Apache-2.0
// A moving average of the weights. This folder holds the slots `average`, `freeze` (freeze.hpp) and
// `groups` (groups.hpp).
#pragma once
#include <algorithm>

#include "sinter/kernels/average.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/program/kinds.hpp"
#include "sinter/run/bound_units.hpp"

namespace sinter {

namespace slot {
/// The slot of Average, which keeps an average of the weights.
struct average {
  static constexpr std::string_view name = "average";
};
}  // namespace slot

struct AverageOptions {
  double decay = 0.9999;  ///< fraction of the average that each step keeps
  /// True if decay is at most (1 + t) / (10 + t) in step t, so that early weights are forgotten.
  bool warmup = true;
  SINTER_FIELDS((decay).at_least(0).below(1).adjustable(), (warmup))
};

namespace touches {
/// States what `average` touches: it reads the masters and changes the average.
template <class Policy>
constexpr void average(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, Use::read, model.masters(), out);
  detail::for_each_region<Policy>(model,
                                  [&](int r) { each(model, i, Use::modify, region(r), out); });
}
}  // namespace touches

namespace detail {
namespace executes {
/// Moves the average of a run of units towards the weights. The first step sets it to the weights.
template <class Policy, class Master>
void average(Machine& machine, const Bound& bound) {
  const double t = double(machine.updates() + 1);
  const auto& options = machine.options<Policy>();
  const double decay = options.warmup ? std::min(options.decay, (1 + t) / (10 + t)) : options.decay;
  const double part = t == 1 ? 1 : 1 - decay;
  for_each_region<Policy>(machine.model(), [&](int r) {
    BoundUnits::run(machine, bound)
        .each_slice(std::array{Space::master, region(r)}, [&](const PlacedSlice& slice) {
          kernel::move_average(machine.stream(), slice.in<const Master>(0),
                               slice.in<kernel::Wide<Master>>(1), part, slice.size);
        });
  });
}
}  // namespace executes

/// The kind of the instruction that updates the average.
template <class Policy, class Master>
inline constexpr Kind average_kind{.name = "average",
                                   .touch = touches::average<Policy>,
                                   .run = executes::average<Policy, Master>,
                                   .role = Role::follow,
                                   .if_applied = true,
                                   .by_shards = true};
}  // namespace detail

/// Keeps an exponential moving average of the weights (Polyak & Juditsky 1992), updated after each
/// step and named "ema" in checkpoints. Training itself does not change. The flag --average of
/// eval, generate and export uses it, and so does TrainerCore::load_weights(path, "ema").
template <AverageOptions O = {}>
struct Average {
  using slot = slot::average;
  using Options = AverageOptions;
  static constexpr Options options = O;
  static constexpr std::array regions{Region{"ema"}};
  static constexpr bool by_shards = true;  ///< see Kind::by_shards

  template <class R>
  static constexpr Program rewrite(const Model& model, Program program) {
    program.push_back({&detail::average_kind<Average, typename R::precision::master>, 0,
                       short(model.order.size())});
    return program;
  }
};

}  // namespace sinter

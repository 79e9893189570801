// SPDX-License-Identifier: Apache-2.0
// A moving average of the weights. This folder holds the slots `average`, `freeze` (freeze.hpp) and
// `groups` (groups.hpp).
#pragma once
#include <algorithm>

#include "sinter/kernels/average.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/program/kinds.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {

namespace slot {
/// Keeps an average of the weights (Average).
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
/// Reads the masters and updates the average.
template <class Policy>
constexpr void average(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, Use::read, model.masters(), out);
  for_each_region<Policy>(model, [&](int r) { each(model, i, Use::modify, region(r), out); });
}
}  // namespace touches

namespace executes {
/// Moves the average of a run of units towards the weights. The first step sets it to the weights.
template <class Policy, class Master>
void average(Machine& machine, const Bound& bound) {
  const double t = double(machine.updates() + 1);
  const auto& options = machine.options<Policy>();
  const double decay = options.warmup ? std::min(options.decay, (1 + t) / (10 + t)) : options.decay;
  const Model& model = machine.model();
  const Instruction& i = *bound.instruction;
  for_each_region<Policy>(model, [&](int r) {
    const auto move = [&](const Master* masters, std::int64_t at, std::int64_t size) {
      kernel::move_average(machine.stream(), masters,
                           machine.flat<kernel::Wide<Master>>(region(r)) + at,
                           t == 1 ? 1 : 1 - decay, size);
    };
    const Master* const all = machine.flat<Master>(Space::master).data;
    const bool come = model.masters() == Space::fetched;
    if (!model.shares_update() && !come) {
      for (const bool decayed : {true, false}) {
        const FlatSlice slice = machine.flat_slice(i.what, i.count, decayed);
        move(all + slice.first, slice.first, slice.size);
      }
      return;
    }
    for (int k = 0; k < i.count; ++k) {
      const Master* unit = reinterpret_cast<const Master*>(bound.at[k]);
      for (const ShardSlice& shard : machine.shards(i.what + k, 1)) {
        move(come ? unit : all + shard.at(model.splits(Space::master)), shard.held, shard.size);
        if (come) unit += shard.size;
      }
    }
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
    program.push_back(
        {&average_kind<Average, typename R::precision::master>, 0, short(model.order.size())});
    return program;
  }
};

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/clipping/clipping.hpp"
#include "sinter/optimizer/optimizer.hpp"
#include "sinter/parallel/ddp.hpp"

namespace sinter {

struct ZeroOptions {
  /// What each rank has a shard of. 1: the optimizer's state, an average of the weights, and the master
  /// weights if layers read a copy of them.
  int stage = 1;
  std::int64_t bucket_bytes = 25 << 20;  ///< gradients are reduced in buckets of at least this size
  /// Threads of one process, or processes, as with Ddp. The plan is made for so many.
  int ranks = 2;
  SINTER_FIELDS((stage).at_least(1), (bucket_bytes).at_least(1), (ranks).at_least(1))
};

namespace touches {
/// Fetches what other ranks have of what layers read: the copy of the weights, or the masters.
constexpr void gather(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, Use::exchange, model.weights, out);
}
/// Waits for that.
constexpr void await_gather(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, Use::finish, model.weights, out);
}
}  // namespace touches

namespace traffic {

/// States `like` of each unit's decayed and undecayed part, whole, in a run of units.
constexpr void each_part(const Model& model, const Instruction& i, const Traffic& like,
                         TrafficList& out) {
  for (int k = i.what; k < i.what + i.count; ++k) parts(model, k, 1, like, out);
}
/// States that each part's gradients are reduced, and scattered over the ranks.
template <Traffic::Does Does>
constexpr void scatter(const Model& model, const Instruction& i, const OnRank&, TrafficList& out) {
  const Element element = model.sizes.element[int(Type::gradient)];
  each_part(model, i, {Operation::reduce_scatter, Does, Space::gradient, 0, 0, element}, out);
}
/// States that what layers read of each part is gathered from the ranks.
template <Traffic::Does Does>
constexpr void gather(const Model& model, const Instruction& i, const OnRank&, TrafficList& out) {
  const Type type = model.weights == Space::master ? Type::master : Type::compute;
  const Element element = model.sizes.element[int(type)];
  each_part(model, i, {Operation::all_gather, Does, model.weights, 0, 0, element}, out);
}
/// Losses, votes and squares of gradients, the first three numbers of kernel::Decision.
constexpr void norm_of_shards(const Model&, const Instruction&, const OnRank&, TrafficList& out) {
  out.push_back({Operation::all_reduce, Traffic::both, Space::decision, 0, 3, Element::f64});
}

}  // namespace traffic

namespace executes {

/// Calls visit(slice) with each unit's decayed and undecayed part, whole, in a run of units.
void each_part(const Machine& machine, const Instruction& i, const auto& visit) {
  for (int k = i.what; k < i.what + i.count; ++k)
    for (bool decayed : {true, false})
      if (const FlatSlice part = machine.flat_slice(k, 1, decayed); part.size > 0) visit(part);
}

template <class Gradient>
void scatter(Machine& machine, const Bound& bound) {
  each_part(machine, *bound.instruction, [&](FlatSlice part) {
    machine.communicator().start_reduce_scatter(
        machine.flat<Gradient>(Space::gradient) + part.first, part.size);
  });
}
template <class Gradient>
void await_scatter(Machine& machine, const Bound& bound) {
  each_part(machine, *bound.instruction, [&](FlatSlice part) {
    machine.communicator().wait(machine.flat<Gradient>(Space::gradient) + part.first);
  });
}
template <class Clipping>
void norm_of_shards(Machine& machine, const Bound&) {
  machine.take_norm_of_shards(clipping_rule<Clipping>(machine));
}
template <class Optimizer, class Precision>
void update_shards(Machine& machine, const Bound& bound) {
  const Updater<Optimizer, Precision> updater(machine);
  const Instruction& i = *bound.instruction;
  for (const ShardSlice& shard : machine.shards(i.what, i.count)) updater.shard(shard);
}
template <class Weight>
void gather(Machine& machine, const Bound& bound) {
  each_part(machine, *bound.instruction, [&](FlatSlice part) {
    machine.communicator().start_all_gather(
        machine.flat<Weight>(machine.model().weights) + part.first, part.size);
  });
}
template <class Weight>
void await_gather(Machine& machine, const Bound& bound) {
  each_part(machine, *bound.instruction, [&](FlatSlice part) {
    machine.communicator().wait(machine.flat<Weight>(machine.model().weights) + part.first);
  });
}

}  // namespace executes

/// The kind of the instruction that starts to sum the gradients of a run of units over the ranks, each
/// rank its shard.
template <class Gradient>
inline constexpr Kind scatter_kind{.name = "reduce-scatter",
                                   .touch = touches::reduce,
                                   .run = executes::scatter<Gradient>,
                                   .role = Role::scatter,
                                   .traffic = traffic::scatter<Traffic::starts>};
/// The kind of the one that waits for the sum.
template <class Gradient>
inline constexpr Kind await_scatter_kind{.name = "await reduce-scatter",
                                         .touch = touches::await_reduce,
                                         .run = executes::await_scatter<Gradient>,
                                         .traffic = traffic::scatter<Traffic::waits>};
/// The kind of the instruction that measures the norm of what the ranks have shards of.
template <class Clipping>
inline constexpr Kind norm_of_shards_kind{.name = "norm",
                                          .touch = touches::norm,
                                          .run = executes::norm_of_shards<Clipping>,
                                          .role = Role::norm,
                                          .by_shards = true,
                                          .traffic = traffic::norm_of_shards};
/// The kind of the instruction that advances this rank's shards of a run of units.
template <class Optimizer, class Precision>
inline constexpr Kind update_shards_kind{.name = "update",
                                         .touch = touches::update<Optimizer>,
                                         .run = executes::update_shards<Optimizer, Precision>,
                                         .role = Role::update,
                                         .if_applied = true,
                                         .by_shards = true};
/// The kind of the instruction that starts to make the weights of a run of units whole again. It runs also
/// where the step is not applied, and then changes nothing: so transfers are in no part of a launch graph
/// that hangs on a decision.
template <class Weight>
inline constexpr Kind gather_kind{.name = "all-gather",
                                  .touch = touches::gather,
                                  .run = executes::gather<Weight>,
                                  .role = Role::gather,
                                  .traffic = traffic::gather<Traffic::starts>};
/// The kind of the one that waits for that.
template <class Weight>
inline constexpr Kind await_gather_kind{.name = "await all-gather",
                                        .touch = touches::await_gather,
                                        .run = executes::await_gather<Weight>,
                                        .traffic = traffic::gather<Traffic::waits>};

/// A rule: gradients and weights are whole on each rank.
struct StageIsTheFirst {
  template <class R>
  static constexpr bool holds = R::parallel::options.stage == 1;
  template <class R>
  static auto enforce() {
    static_assert(
        holds<R>,
        "Zero: there is only stage 1. Why: stages 2 and 3 also split gradients and the weights "
        "that layers read, which their programs would have to gather. Fix: .stage = 1.");
  }
};

/// A rule: the optimizer works on any slice of the parameters.
struct OptimizerTakesSlices {
  template <class R>
  static constexpr bool holds = !ByParameter<typename R::optimizer>;
  template <class R>
  static auto enforce() {
    static_assert(
        holds<R>,
        "Zero: the optimizer of this recipe takes parameters one by one, each whole. Why: a "
        "rank updates its shard of a unit, in which parameters are cut anywhere. Fix: use an "
        "elementwise optimizer (AdamW, Adam, Lion, Sgd), or Ddp.");
  }
};

/// Data parallel training in which each rank updates its shard of the parameters and keeps the
/// optimizer's state of that alone (Rajbhandari et al. 2020, stage 1). Gradients are summed as those of
/// Ddp, to the same bits, but each rank gets its shard of the sum; what it has updated, all others fetch.
/// So as many bytes move as with Ddp. The norm of the gradients is summed over shards, and may differ from
/// Ddp's in its last bits.
template <ZeroOptions O = {}>
struct Zero {
  using slot = slot::parallel;
  using Options = ZeroOptions;
  using rules = RuleList<StageIsTheFirst, OptimizerTakesSlices>;
  static constexpr Options options = O;
  static constexpr bool reduces = true;
  static constexpr int shards = O.ranks;  ///< see Model::shards
  static constexpr int ranks(const Options& o) { return o.ranks; }

  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    using Precision = typename R::precision;
    using Gradient = typename Precision::gradient;
    using Weight = typename Precision::compute;  // the masters' type, too, where there is no copy
    // Buckets, and when they are reduced and waited for, are those of Ddp.
    using Whole = Ddp<{.bucket_bytes = O.bucket_bytes, .ranks = O.ranks}>;
    if constexpr (shards == 1) return Whole::template rewrite<R>(model, program);
    Program rewritten = room_for(program);
    std::vector<Instruction> buckets;
    for (Instruction i : Whole::template rewrite<R>(model, program)) {
      if (i.kind->role == Role::reduce) {
        i.kind = &scatter_kind<Gradient>;
        buckets.push_back(i);
      }
      if (i.kind == &await_reduce_kind<Gradient>) i.kind = &await_scatter_kind<Gradient>;
      if (i.kind->role == Role::norm) i.kind = &norm_of_shards_kind<typename R::clipping>;
      if (i.kind->role != Role::update) {
        rewritten.push_back(i);
        continue;
      }
      for (const Instruction& bucket : buckets) {
        rewritten.push_back(
            {&update_shards_kind<typename R::optimizer, Precision>, bucket.what, bucket.count});
        rewritten.push_back({&gather_kind<Weight>, bucket.what, bucket.count});
      }
      for (const Instruction& bucket : buckets)
        rewritten.push_back({&await_gather_kind<Weight>, bucket.what, bucket.count});
    }
    return rewritten;
  }
};

}  // namespace sinter

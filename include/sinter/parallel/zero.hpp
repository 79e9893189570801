// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/hardware/memory.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/optimizer/optimizer.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parallel/fetched_weights.hpp"

namespace sinter {

struct ZeroOptions {
  /// What is split over the ranks. 1: the optimizer's state, an average of the weights, and the
  /// master weights if layers read a copy of them. 2: gradients, too. 3: all weights, too.
  int stage = 1;
  std::int64_t bucket_bytes = 25 << 20;  ///< gradients are reduced in buckets of at least this size
  /// Number of ranks: threads of one process, or processes, as with Ddp. The plan depends on it.
  int ranks = 2;
  SINTER_FIELDS((stage).at_least(1), (bucket_bytes).at_least(1), (ranks).at_least(1))
};

namespace touches {
/// States that the sum of a micro-batch's gradients ends, and this rank's shards of it are added
/// up.
constexpr void add_shards(const Model& model, const Instruction& i, TouchList& out) {
  gradients<Use::finish>(model, i, out);
  each(model, i, Use::consume, model.gradients(), out);
  each(model, i, Use::accumulate, Space::gradient, out);
}
}  // namespace touches

namespace traffic {

/// States that each unit's gradients are summed, and each rank gets its shards.
template <Traffic::Does Does>
constexpr void scatter(const Model& model, const Instruction& i, const OnRank&, TrafficList& out) {
  const Traffic like{{}, Does, model.gradients(), 0, 0, model.sizes.element[int(Type::gradient)]};
  for (int k = i.what; k < i.what + i.count; ++k)
    exchanged(model, model.order[std::size_t(k)], to_shards, like, out);
}
/// States that the weights of each unit come from the ranks that have shards of them.
template <Traffic::Does Does>
constexpr void gather(const Model& model, const Instruction& i, const OnRank&, TrafficList& out) {
  const Traffic like{{}, Does, model.weights(), 0, 0, element_of_weights(model)};
  for (int k = i.what; k < i.what + i.count; ++k)
    exchanged(model, model.order[std::size_t(k)], from_shards, like, out);
}

}  // namespace traffic

namespace detail {
namespace executes {

/// Clears the gaps between parameters in temporary buffers of units, as nothing else writes them.
template <class Gradient>
void clear_gaps(Machine& machine, const Bound& bound) {
  const Model& model = machine.model();
  const Instruction& i = *bound.instruction;
  for (int k = 0; k < i.count; ++k) {
    if (!bound.at[k]) continue;
    const int unit = model.order[std::size_t(i.what + k)];
    const auto clear = [&](std::int64_t first, std::int64_t last) {
      constexpr std::int64_t bytes = sizeof(Gradient);
      if (first < last)
        clear_on_device(machine.stream(), bound.at[k] + first * bytes, (last - first) * bytes);
    };
    const std::int64_t decayed = model.part_elements(unit, true);
    clear(model.block(unit).decayed, decayed);
    clear(decayed + model.block(unit).undecayed, model.unit_elements(unit));
    for (const Parameter& p : machine.parameters().of_unit(unit)) {
      if (p.frozen) continue;
      const std::int64_t end = model.in_unit(unit, p.offset) + p.size;
      clear(end, padded(end));
    }
  }
}

template <class Gradient>
void scatter(Machine& machine, const Bound& bound) {
  clear_gaps<Gradient>(machine, bound);
  start_exchange(BoundUnits::run(machine, bound), machine.model().gradients(), traffic::to_shards);
}
inline void await_scatter(Machine& machine, const Bound& bound) {
  await_exchange(BoundUnits::run(machine, bound), machine.model().gradients());
}
/// Adds the sums' shards to gradients; the first micro-batch sets them.
template <class Gradient>
void add_shards(Machine& machine, const Bound& bound) {
  await_scatter(machine, bound);
  // As touches::add_shards states them.
  constexpr std::array spaces{Space::d_weights, Space::d_weights, Space::gradient};
  BoundUnits::run(machine, bound).each_slice(spaces, [&](const PlacedSlice& slice) {
    const auto add =
        machine.now().iteration == 0 ? kernel::copy<Gradient> : kernel::accumulate<Gradient>;
    add(machine.stream(), slice.in<const Gradient>(0), slice.in<Gradient>(2), slice.size);
  });
}
inline void gather(Machine& machine, const Bound& bound) {
  start_exchange(BoundUnits::run(machine, bound), machine.model().weights(), traffic::from_shards);
}
inline void await_gather(Machine& machine, const Bound& bound) {
  await_exchange(BoundUnits::run(machine, bound), machine.model().weights());
}

}  // namespace executes

/// The kind of the instruction that starts to sum the gradients of a run of units over the ranks.
/// Each rank gets its shards, equal parts or owned ones.
template <class Gradient, bool Owned>
inline constexpr Kind scatter_kind{.name = Owned ? "reduce to owners" : "reduce-scatter",
                                   .touch = touches::gradients<Use::exchange>,
                                   .run = executes::scatter<Gradient>,
                                   .role = Role::scatter,
                                   .traffic = traffic::scatter<Traffic::starts>};
/// The kind of the instruction that waits for the sum of gradients.
template <bool Owned>
inline constexpr Kind await_scatter_kind{.name = Owned ? "await reduce" : "await reduce-scatter",
                                         .touch = touches::gradients<Use::finish>,
                                         .run = executes::await_scatter,
                                         .traffic = traffic::scatter<Traffic::waits>};
/// The kind of the instruction that waits for the sum of temporary gradients, and adds this rank's
/// shards of it to the step's gradients.
template <class Gradient>
inline constexpr Kind add_shards_kind{.name = "add shards",
                                      .touch = touches::add_shards,
                                      .run = executes::add_shards<Gradient>,
                                      .by_shards = true,
                                      .traffic = traffic::scatter<Traffic::waits>};
/// The kind of the instruction that starts to gather the whole weights of a run of units. It also
/// runs if the step is not applied, and then changes nothing; so no transfer is in a conditional
/// part of a launch graph.
template <bool Owned>
inline constexpr Kind gather_kind{.name = Owned ? "broadcast" : "all-gather",
                                  .touch = touches::weights<Use::exchange>,
                                  .run = executes::gather,
                                  .role = Role::gather,
                                  .traffic = traffic::gather<Traffic::starts>};
/// The kind of the instruction that waits for the gathered weights.
template <bool Owned>
inline constexpr Kind await_gather_kind{.name = Owned ? "await broadcast" : "await all-gather",
                                        .touch = touches::weights<Use::finish>,
                                        .run = executes::await_gather,
                                        .traffic = traffic::gather<Traffic::waits>};

SINTER_RULE(StageIsAtMostThree, R::parallel::options.stage <= 3,
            "Zero: there are only stages 1, 2 and 3. Why: stage 3 splits all that a model has. "
            "Fix: .stage = 3.");
}  // namespace detail

/// ZeRO, stage 1: data parallel training in which each rank updates its shard of the parameters and
/// keeps only that shard of the optimizer's state (Rajbhandari et al. 2020). Gradients are summed
/// as in Ddp, to the same bits, but each rank receives only its shard of the sum; ranks then gather
/// the updated weights. So as many bytes move as with Ddp. The norm sums squares of all shards and
/// has Ddp's bits, too (kernel::BinnedSum).
///
/// In stage 2 a rank also keeps only its shard of gradients. Backward writes a unit's gradients to
/// a temporary buffer. In each micro-batch, a bucket is summed over the ranks as soon as it is
/// final, concurrently with the next backward, and each rank adds its shard of the sum to its
/// gradients. Ddp sums over the ranks only after accumulation, so bits differ if there are several
/// micro-batches; with one they are the same.
///
/// In stage 3 a rank also keeps only its shard of weights. In each micro-batch a unit's weights are
/// fetched before its forward and before its backward, concurrently with the previous computation.
/// Evaluation and prediction do the same. Stage 3 is bit-identical to stage 2.
///
/// With an optimizer of whole parameters, such as Muon, shards are not equal: one rank owns each
/// matrix, and one rank owns all vectors of a unit. Owners are chosen by size at compile time
/// (owned_slices). Gradients are then reduced to the owner, and weights broadcast by it.
template <ZeroOptions O = {}>
struct Zero {
  using slot = slot::parallel;
  using Options = ZeroOptions;
  using rules = RuleList<detail::StageIsAtMostThree>;
  static constexpr Options options = O;
  static constexpr bool reduces = true;
  static constexpr int shards = O.ranks;                  ///< see Model::shards
  static constexpr bool owners = true;                    ///< see Model::owned
  static constexpr bool splits_gradients = O.stage >= 2;  ///< see StateModes
  static constexpr bool splits_weights = O.stage >= 3;    ///< see StateModes
  static constexpr int ranks(const Options& o) { return o.ranks; }

  template <class R>
  static constexpr Program rewrite(const Model& model, const Program& program) {
    using Gradient = typename R::precision::gradient;
    constexpr bool owned = detail::hook::by_parameter<typename R::optimizer>;
    if constexpr (shards == 1)
      return Ddp<{.bucket_bytes = O.bucket_bytes, .ranks = 1}>::template rewrite<R>(model, program);
    const std::vector<detail::Bucket> buckets =
        detail::cut_into_buckets(model, DdpOptions{}.first_bucket_bytes, O.bucket_bytes);
    Program rewritten = detail::room_for(program);
    // In stage 2, a bucket is waited for when the next one is to start, and the last one at the end
    // of the micro-batch. So at most two whole buckets exist at once.
    const detail::Bucket* started = nullptr;
    const auto add_shards = [&] {
      if (splits_gradients && started)
        rewritten.push_back({&detail::add_shards_kind<Gradient>, started->what, started->count});
    };
    const auto visit = [&](Instruction i) {
      if (i.kind->role == Role::update) return update<R>(i.kind, buckets, rewritten);
      if (i.kind->role == Role::end) add_shards();
      if (i.kind->role == Role::norm && !splits_gradients)
        for (const detail::Bucket& b : buckets)
          rewritten.push_back({&detail::await_scatter_kind<owned>, b.what, b.count});
      rewritten.push_back(i);
    };
    detail::walk_with_buckets(model, program, buckets, visit, [&](const detail::Bucket& bucket) {
      add_shards();
      started = &bucket;
      rewritten.push_back({&detail::scatter_kind<Gradient, owned>, bucket.what, bucket.count,
                           splits_gradients ? When::always : When::last});
    });
    return rewrite_forward(model, rewritten);
  }
  /// Fetches weights in evaluation and prediction, too.
  static constexpr Program rewrite_forward(const Model& model, const Program& program) {
    if (!model.fetches_weights()) return program;
    return detail::fetch_weights(model, program);
  }

 private:
  /// Updates the buckets. Each is then gathered concurrently with the update of the next, unless
  /// its weights are fetched when they are read.
  template <class R>
  static constexpr void update(const Kind* kind, const std::vector<detail::Bucket>& buckets,
                               Program& rewritten) {
    constexpr bool owned = detail::hook::by_parameter<typename R::optimizer>;
    for (const detail::Bucket& bucket : buckets) {
      rewritten.push_back({kind, bucket.what, bucket.count});
      if (splits_weights) continue;
      rewritten.push_back({&detail::gather_kind<owned>, bucket.what, bucket.count});
    }
    if (splits_weights) return;
    for (const detail::Bucket& bucket : buckets)
      rewritten.push_back({&detail::await_gather_kind<owned>, bucket.what, bucket.count});
  }
};

}  // namespace sinter

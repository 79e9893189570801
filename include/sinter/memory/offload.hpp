// SPDX-License-Identifier: Apache-2.0
// Offloaded state and weights, outside of the device's memory. This file has a slot of its own.
#pragma once
#include "sinter/parallel/fetched_weights.hpp"
#include "sinter/plan/placement.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/program/regions.hpp"

namespace sinter {

namespace slot {
/// The slot of Offload: what is kept outside the device's memory.
struct offload {
  static constexpr std::string_view name = "offload";
  static constexpr bool decisive = false;
};
}  // namespace slot

/// Where offloaded state is stored.
enum class OffloadTo : std::uint8_t {
  host,  // in the host's memory, if the device is a card
  disk   // in a file, if the device is the CPU
};
/// The name of a destination in `describe` and files.
constexpr std::string_view name_of(OffloadTo to) { return to == OffloadTo::host ? "host" : "disk"; }

struct OffloadOptions {
  OffloadTo to = OffloadTo::disk;  ///< where the optimizer's state is stored
  /// True if master weights are offloaded, too; the weights that layers read are then temporary.
  bool weights = false;
  /// Minimum bytes of offloaded state of units that are fetched, updated and stored together.
  std::int64_t bucket_bytes = 4 << 20;
  SINTER_FIELDS((to), (weights), (bucket_bytes).at_least(1))
};

namespace touches {
/// States the use U of the offloaded state of a run of units, and of their masters if these are
/// offloaded.
template <Use U>
constexpr void offloaded_state(const Model& model, const Instruction& i, TouchList& out) {
  detail::each_offloaded(model, [&](Space space) {
    each(model, i, U, space == Space::master ? Space::fetched : space, out);
  });
}
/// States the use U of the offloaded masters of the unit `what`.
template <Use U>
constexpr void offloaded_masters(const Model&, const Instruction& i, TouchList& out) {
  out.push_back({U, Space::fetched, i.what});
}
/// States that the store of offloaded state ends, and its temporary buffers close.
constexpr void await_store(const Model& model, const Instruction& i, TouchList& out) {
  offloaded_state<Use::finish>(model, i, out);
  offloaded_state<Use::consume>(model, i, out);
}
}  // namespace touches

namespace detail {
/// The functions that run these instructions (src/memory/offload.cpp).
namespace executes {
void fetch_state(Machine&, const Bound&);
void fetch_masters(Machine&, const Bound&);
void await_state(Machine&, const Bound&);
void store_state(Machine&, const Bound&);
void await_store(Machine&, const Bound&);
}  // namespace executes

/// The kind of the instruction that starts to fetch the offloaded state of a run of units.
inline constexpr Kind fetch_state_kind{.name = "fetch state",
                                       .touch = touches::offloaded_state<Use::fetch>,
                                       .run = executes::fetch_state,
                                       .by_shards = true};
/// The kind of the instruction that waits for fetched state.
inline constexpr Kind await_state_kind{.name = "await state",
                                       .touch = touches::offloaded_state<Use::finish>,
                                       .run = executes::await_state,
                                       .by_shards = true};
/// The kind of the instruction that starts to store offloaded state again. It also runs if the step
/// is not applied, and then changes nothing; so no transfer is in a conditional part of a launch
/// graph.
inline constexpr Kind store_state_kind{.name = "store state",
                                       .touch = touches::offloaded_state<Use::send>,
                                       .run = executes::store_state,
                                       .by_shards = true};
/// The kind of the instruction that waits until offloaded state is stored.
inline constexpr Kind await_store_kind{.name = "await store",
                                       .touch = touches::await_store,
                                       .run = executes::await_store,
                                       .by_shards = true};

/// The kind of the instruction that starts to fetch the offloaded masters of the unit `what`.
inline constexpr Kind fetch_masters_kind{.name = "fetch masters",
                                         .touch = touches::offloaded_masters<Use::fetch>,
                                         .run = executes::fetch_masters,
                                         .by_shards = true};
/// The kind of the instruction that waits for fetched masters.
inline constexpr Kind await_masters_kind{.name = "await masters",
                                         .touch = touches::offloaded_masters<Use::finish>,
                                         .run = executes::await_state,
                                         .by_shards = true};

/// The options of a recipe's Offload policy; the defaults if it has none.
template <class R>
constexpr OffloadOptions offload_of() {
  OffloadOptions found{};
  for_each_policy(typename R::all{}, [&]<class P>(P*) {
    if constexpr (std::is_same_v<typename P::slot, slot::offload>) found = P::options;
  });
  return found;
}
/// True if ranks send each other whole weights.
template <class Parallel>
constexpr bool sends_whole() {
  return hook::at_root<Parallel> || (hook::shards<Parallel> > 1 && !hook::splits_weights<Parallel>);
}

SINTER_RULE(OffloadLeavesTheHost,
            !R::device::on_host || detail::offload_of<R>().to == OffloadTo::disk,
            "Offload: Cpu offloads nothing to the host. Why: it computes in the memory of the "
            "host, so that the state would stay where it is. Fix: .to = OffloadTo::disk.");
SINTER_RULE(OffloadLeavesTheCard,
            R::device::on_host || detail::offload_of<R>().to == OffloadTo::host,
            "Offload: a card offloads nothing to a disk. Why: its state would pass through the "
            "memory of the host, and there is no such path yet. Fix: .to = OffloadTo::host.");
SINTER_RULE(OptimizerKeepsState, !R::optimizer::regions.empty() || detail::offload_of<R>().weights,
            "Offload: the optimizer of this recipe keeps no state. Why: there would be nothing to "
            "offload. Fix: .weights = true, or leave Offload out.");
SINTER_RULE(OffloadedWeightsStay,
            !detail::offload_of<R>().weights || !detail::sends_whole<typename R::parallel>(),
            "Offload: weights are offloaded that ranks send to each other whole. Why: with "
            "SplitBatch, and with Zero's stages 1 and 2, each rank keeps all weights in the arena, "
            "as what others have updated comes there. Fix: .stage = 3, Ddp, or .weights = false.");
}  // namespace detail

/// Keeps the optimizer's state in the host's memory or, on the CPU, in a file (Rajbhandari et al.
/// 2021). The arena has room for the state of only a few units: those being updated, the next ones,
/// which are being fetched, and the previous ones, which are being stored. This room is memory that
/// backward has freed of activations. With `weights`, masters are offloaded, too. A unit's masters
/// are fetched before each instruction that reads its weights, while the previous such instruction
/// runs. Weights made from them are freed once read. Results are bit-identical to keeping
/// everything in the arena.
template <OffloadOptions O = {}>
struct Offload {
  using slot = slot::offload;
  using Options = OffloadOptions;
  using rules = RuleList<detail::OffloadLeavesTheHost, detail::OffloadLeavesTheCard,
                         detail::OptimizerKeepsState, detail::OffloadedWeightsStay>;
  static constexpr Options options = O;
  static constexpr bool offloads_state = true;         ///< see Region::row
  static constexpr bool offloads_weights = O.weights;  ///< see Model::masters
  static constexpr bool rewrites_last = true;          ///< as it moves what follows the update

  static constexpr Program rewrite(const Model& model, const Program& given) {
    const Program program = rewrite_forward(model, given);
    const std::vector<Instruction> runs = updates_of(model, program);
    Program followers, rewritten;
    for (const Instruction& i : program)
      if (follows_masters(model, i)) followers.push_back(i);
    rewritten.reserve(program.size() + 5 * runs.size() + 8);
    const auto add = [&](const Kind& kind, std::size_t run) {
      if (run < runs.size()) rewritten.push_back({&kind, runs[run].what, runs[run].count});
    };
    std::size_t next = 0;
    for (const Instruction& i : program) {
      if (i.kind->role == Role::norm) add(detail::fetch_state_kind, 0);
      if (follows_masters(model, i)) continue;
      if (i.kind->role != Role::update) {
        rewritten.push_back(i);
        continue;
      }
      for (const int end = i.what + i.count;
           next < runs.size() && runs[next].what >= i.what && runs[next].what < end; ++next) {
        add(detail::await_state_kind, next);
        add(detail::fetch_state_kind, next + 1);
        rewritten.push_back(runs[next]);
        for (const Instruction& follower : followers) add(*follower.kind, next);
        if (next > 0) add(detail::await_store_kind, next - 1);
        add(detail::store_state_kind, next);
      }
    }
    add(detail::await_store_kind, runs.size() - 1);
    return rewritten;
  }
  /// Makes weights of fetched masters, in evaluation and prediction, too.
  static constexpr Program rewrite_forward(const Model& model, const Program& program) {
    if (!O.weights) return program;
    if (model.shards > 1) return fetch_masters(model, program);  // after fetch_weights()
    return fetch_masters(model, detail::fetch_weights(model, program));
  }

 private:
  /// True if an instruction follows the update of offloaded masters. It then runs for each bucket,
  /// while its masters are in the arena.
  static constexpr bool follows_masters(const Model& model, const Instruction& i) {
    if (i.kind->role != Role::follow) return false;
    TouchList list;
    i.kind->touch(model, i, list);
    for (const Touch& touch : list)
      if (touch.space == Space::fetched) return true;
    return false;
  }
  /// True if an instruction makes weights of offloaded masters.
  static constexpr bool reads_masters(const Model& model, const Instruction& i) {
    const bool makes =
        i.kind == &detail::fetch_weights_kind || i.kind == &detail::copy_weights_kind;
    return makes && model.is_trained(i.what);
  }
  /// Fetches masters after the previous instruction in the same loop that reads any.
  static constexpr Program fetch_masters(const Model& model, const Program& program) {
    Program rewritten;
    rewritten.reserve(3 * program.size() + 8);
    bool started = false;
    for (std::size_t t = 0; t < program.size(); ++t) {
      if (!reads_masters(model, program[t])) {
        rewritten.push_back(program[t]);
        continue;
      }
      if (!started) rewritten.push_back({&detail::fetch_masters_kind, program[t].what});
      rewritten.push_back({&detail::await_masters_kind, program[t].what});
      rewritten.push_back(program[t]);
      std::size_t next = t + 1;
      while (next < program.size() && !reads_masters(model, program[next]) &&
             program[next].kind->role != Role::loop && program[next].kind->role != Role::end)
        ++next;
      started = next < program.size() && reads_masters(model, program[next]);
      if (started) rewritten.push_back({&detail::fetch_masters_kind, program[next].what});
    }
    return rewritten;
  }
  /// The updates of a program, each cut into runs of units with at least bucket_bytes of state.
  static constexpr std::vector<Instruction> updates_of(const Model& model, const Program& program) {
    std::vector<Instruction> runs;
    runs.reserve(model.order.size());
    for (const Instruction& i : program) {
      if (i.kind->role != Role::update) continue;
      std::int64_t bytes = O.bucket_bytes;
      for (short k = i.what; k < i.what + i.count; ++k) {
        if (bytes >= O.bucket_bytes) {
          runs.push_back({i.kind, k, 0, i.when});
          bytes = 0;
        }
        ++runs.back().count;
        bytes += state_bytes(model, model.order[std::size_t(k)]);
      }
    }
    return runs;
  }
  static constexpr std::int64_t state_bytes(const Model& model, int unit) {
    std::int64_t bytes = 0;
    detail::each_offloaded(model, [&](Space space) {
      bytes += detail::buffer_bytes(model, space == Space::master ? Space::fetched : space, unit);
    });
    return bytes;
  }
};

}  // namespace sinter

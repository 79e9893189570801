// SPDX-License-Identifier: Apache-2.0
// State and weights that live outside of the device's memory. This file has a slot of its own.
#pragma once
#include "sinter/parallel/fetched_weights.hpp"
#include "sinter/plan/placement.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/program/regions.hpp"

namespace sinter {

namespace slot {
/// What lives outside of the device's memory (Offload).
struct offload {
  static constexpr std::string_view name = "offload";
  static constexpr bool decisive = false;
};
}  // namespace slot

/// Where state lives that is offloaded.
enum class OffloadTo : std::uint8_t {
  host,  // in the memory of the host, where the device is a card
  disk   // in a file, where the device is the host
};
/// The name of a place, as `describe` and files have it.
constexpr std::string_view name_of(OffloadTo to) { return to == OffloadTo::host ? "host" : "disk"; }

struct OffloadOptions {
  OffloadTo to = OffloadTo::disk;  ///< where the optimizer's state lives
  /// Whether master weights live there, too, and those that layers read come and go.
  bool weights = false;
  /// Units of which together at least so much lives there are fetched, updated and stored together.
  std::int64_t bucket_bytes = 4 << 20;
  SINTER_FIELDS((to), (weights), (bucket_bytes).at_least(1))
};

namespace touches {
/// Uses all state of a run of units that comes and goes, and their masters if these do.
template <Use U>
constexpr void away_state(const Model& model, const Instruction& i, TouchList& out) {
  each_away(model, [&](Space space) {
    each(model, i, U, space == Space::master ? Space::fetched : space, out);
  });
}
/// Uses the masters of the unit `what` that come and go.
template <Use U>
constexpr void away_masters(const Model&, const Instruction& i, TouchList& out) {
  out.push_back({U, Space::fetched, i.what});
}
/// Waits until it is stored, and gives its memory up.
constexpr void await_store(const Model& model, const Instruction& i, TouchList& out) {
  away_state<Use::finish>(model, i, out);
  away_state<Use::consume>(model, i, out);
}
}  // namespace touches

/// How they run (src/memory/offload.cpp).
namespace executes {
void fetch_state(Machine&, const Bound&);
void fetch_masters(Machine&, const Bound&);
void await_state(Machine&, const Bound&);
void store_state(Machine&, const Bound&);
void await_store(Machine&, const Bound&);
}  // namespace executes

/// The kind of the instruction that starts to fetch the state of a run of units, which is outside of the arena.
inline constexpr Kind fetch_state_kind{.name = "fetch state",
                                       .touch = touches::away_state<Use::fetch>,
                                       .run = executes::fetch_state,
                                       .by_shards = true};
/// The kind of the one that waits for it.
inline constexpr Kind await_state_kind{.name = "await state",
                                       .touch = touches::away_state<Use::finish>,
                                       .run = executes::await_state,
                                       .by_shards = true};
/// The kind of the instruction that starts to store it again. It runs also where the step is not applied, and
/// then changes nothing: so transfers are in no part of a launch graph that hangs on a decision.
inline constexpr Kind store_state_kind{.name = "store state",
                                       .touch = touches::away_state<Use::send>,
                                       .run = executes::store_state,
                                       .by_shards = true};
/// The kind of the one that waits for that.
inline constexpr Kind await_store_kind{.name = "await store",
                                       .touch = touches::await_store,
                                       .run = executes::await_store,
                                       .by_shards = true};

/// The kind of the instruction that starts to fetch the masters of the unit `what`, to make weights of them.
inline constexpr Kind fetch_masters_kind{.name = "fetch masters",
                                         .touch = touches::away_masters<Use::fetch>,
                                         .run = executes::fetch_masters,
                                         .by_shards = true};
/// The kind of the one that waits for them.
inline constexpr Kind await_masters_kind{.name = "await masters",
                                         .touch = touches::away_masters<Use::finish>,
                                         .run = executes::await_state,
                                         .by_shards = true};

namespace detail {

/// The options of the Offload of a recipe.
template <class R>
constexpr OffloadOptions offload_of() {
  OffloadOptions found{};
  for_each_policy(typename R::all{}, [&]<class P>(P*) {
    if constexpr (std::is_same_v<typename P::slot, slot::offload>) found = P::options;
  });
  return found;
}

}  // namespace detail

/// A rule: where state is offloaded to is not where it is anyway, and can be reached from the device.
struct OffloadLeavesTheDevice {
  template <class R>
  static constexpr bool holds =
      (detail::offload_of<R>().to == OffloadTo::disk) == bool(R::device::on_host);
  template <class R>
  static auto enforce() {
    static_assert(
        !R::device::on_host || holds<R>,
        "Offload: Cpu offloads nothing to the host. Why: it computes in the memory of the "
        "host, so that the state would stay where it is. Fix: .to = OffloadTo::disk.");
    static_assert(
        R::device::on_host || holds<R>,
        "Offload: a card offloads nothing to a disk. Why: its state would pass through the "
        "memory of the host, and there is no such path yet. Fix: .to = OffloadTo::host.");
  }
};

/// A rule: there is state, or weights are offloaded.
struct OptimizerKeepsState {
  template <class R>
  static constexpr bool holds = !R::optimizer::regions.empty() || detail::offload_of<R>().weights;
  template <class R>
  static auto enforce() {
    static_assert(
        holds<R>,
        "Offload: the optimizer of this recipe keeps no state. Why: there would be nothing to "
        "offload. Fix: .weights = true, or leave Offload out.");
  }
};

/// A rule: weights that are offloaded are not sent to ranks that keep them whole.
struct OffloadedWeightsStay {
  template <class Parallel>
  static constexpr bool sends_whole() {
    if constexpr (hook::HasAtRoot<Parallel>) {
      return Parallel::at_root;
    } else if constexpr (hook::HasShards<Parallel>) {
      return Parallel::shards > 1 && !hook::SplitsWeights<Parallel>;
    } else {
      return false;
    }
  }
  template <class R>
  static constexpr bool holds =
      !detail::offload_of<R>().weights || !sends_whole<typename R::parallel>();
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "Offload: weights are offloaded that ranks send to each other whole. Why: with "
                  "SplitBatch, and with Zero's stages 1 and 2, each rank keeps all weights in the "
                  "arena, as what others have updated comes there. Fix: .stage = 3, Ddp, or "
                  ".weights = false.");
  }
};

/// Keeps the optimizer's state outside of the device's memory: in the memory of the host, or on the CPU in a
/// file (Rajbhandari et al. 2021). The arena has room for that of a few units alone: those that are updated,
/// the next, which are fetched meanwhile, and the ones before, which are stored. It lies where backward has
/// freed that of activations. With `weights` the masters live there, too: those of a unit are fetched before
/// each instruction that reads its weights, while the one before it runs that does, and made into weights as
/// layers read them, which are given up when they have been read. The bits are those of keeping all of it.
template <OffloadOptions O = {}>
struct Offload {
  using slot = slot::offload;
  using Options = OffloadOptions;
  using rules = RuleList<OffloadLeavesTheDevice, OptimizerKeepsState, OffloadedWeightsStay>;
  static constexpr Options options = O;
  static constexpr bool offloads_state = true;         ///< see Region::away
  static constexpr bool offloads_weights = O.weights;  ///< see Model::masters
  static constexpr bool rewrites_last = true;  ///< what others do behind the update goes with it

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
      if (i.kind->role == Role::norm) add(fetch_state_kind, 0);
      if (follows_masters(model, i)) continue;
      if (i.kind->role != Role::update) {
        rewritten.push_back(i);
        continue;
      }
      for (const int end = i.what + i.count;
           next < runs.size() && runs[next].what >= i.what && runs[next].what < end; ++next) {
        add(await_state_kind, next);
        add(fetch_state_kind, next + 1);
        rewritten.push_back(runs[next]);
        for (const Instruction& follower : followers) add(*follower.kind, next);
        if (next > 0) add(await_store_kind, next - 1);
        add(store_state_kind, next);
      }
    }
    add(await_store_kind, runs.size() - 1);
    return rewritten;
  }
  /// Has weights made of masters that are fetched, in evaluation and prediction, too.
  static constexpr Program rewrite_forward(const Model& model, const Program& program) {
    if (!O.weights) return program;
    if (model.shards > 1) return fetch_masters(model, program);  // which fetches weights
    return fetch_masters(model, fetch_weights(model, program));
  }

 private:
  /// Whether an instruction follows the update of masters that come and go: it does so run by run, while they
  /// are there.
  static constexpr bool follows_masters(const Model& model, const Instruction& i) {
    if (i.kind->role != Role::follow) return false;
    TouchList list;
    i.kind->touch(model, i, list);
    for (const Touch& touch : list)
      if (touch.space == Space::fetched) return true;
    return false;
  }
  /// Whether an instruction makes weights of masters that come and go.
  static constexpr bool reads_masters(const Model& model, const Instruction& i) {
    const bool makes = i.kind == &fetch_weights_kind || i.kind == &copy_weights_kind;
    return makes && model.is_trained(i.what);
  }
  /// Fetches masters behind the instruction before that reads any, as far as the same loop goes.
  static constexpr Program fetch_masters(const Model& model, const Program& program) {
    Program rewritten;
    rewritten.reserve(3 * program.size() + 8);
    bool started = false;
    for (std::size_t t = 0; t < program.size(); ++t) {
      if (!reads_masters(model, program[t])) {
        rewritten.push_back(program[t]);
        continue;
      }
      if (!started) rewritten.push_back({&fetch_masters_kind, program[t].what});
      rewritten.push_back({&await_masters_kind, program[t].what});
      rewritten.push_back(program[t]);
      std::size_t next = t + 1;
      while (next < program.size() && !reads_masters(model, program[next]) &&
             program[next].kind->role != Role::loop && program[next].kind->role != Role::end)
        ++next;
      started = next < program.size() && reads_masters(model, program[next]);
      if (started) rewritten.push_back({&fetch_masters_kind, program[next].what});
    }
    return rewritten;
  }
  /// The updates of a program, each cut into runs of units whose state has together at least bucket_bytes.
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
    each_away(model, [&](Space space) {
      bytes += buffer_bytes(model, space == Space::master ? Space::fetched : space, unit);
    });
    return bytes;
  }
};

}  // namespace sinter

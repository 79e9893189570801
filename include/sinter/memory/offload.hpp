// SPDX-License-Identifier: Apache-2.0
// State that lives outside of the device's memory. This file has a slot of its own.
#pragma once
#include "sinter/program/regions.hpp"
#include "sinter/recipe/concepts.hpp"

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
  /// Units whose state has together at least this size are fetched, updated and stored together.
  std::int64_t bucket_bytes = 4 << 20;
  SINTER_FIELDS((to), (bucket_bytes).at_least(1))
};

namespace touches {
/// Uses all state of a run of units that comes and goes.
template <Use U>
constexpr void away_state(const Model& model, const Instruction& i, TouchList& out) {
  for (int r = 0; r < int(model.regions.size()); ++r)
    if (model.is_away(region(r)))
      for (int k = i.what; k < i.what + i.count; ++k) out.push_back({U, region(r), model.order[k]});
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

/// A rule: where state is offloaded to is not where it is anyway, and can be reached from the device.
struct OffloadLeavesTheDevice {
  template <class R>
  static constexpr OffloadTo to() {
    OffloadTo found{};
    for_each_policy(typename R::all{}, [&]<class P>(P*) {
      if constexpr (std::is_same_v<typename P::slot, slot::offload>) found = P::options.to;
    });
    return found;
  }
  template <class R>
  static constexpr bool holds = (to<R>() == OffloadTo::disk) == bool(R::device::on_host);
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

/// A rule: there is state.
struct OptimizerKeepsState {
  template <class R>
  static constexpr bool holds = !R::optimizer::regions.empty();
  template <class R>
  static auto enforce() {
    static_assert(
        holds<R>,
        "Offload: the optimizer of this recipe keeps no state. Why: there would be nothing to "
        "offload. Fix: leave Offload out.");
  }
};

/// Keeps the optimizer's state outside of the device's memory: in the memory of the host, or on the CPU in a
/// file (Rajbhandari et al. 2021). The arena has room for that of a few units alone: those that are updated,
/// the next, which are fetched meanwhile, and the ones before, which are stored. It lies where backward has
/// freed that of activations. The bits are those of keeping it.
template <OffloadOptions O = {}>
struct Offload {
  using slot = slot::offload;
  using Options = OffloadOptions;
  using rules = RuleList<OffloadLeavesTheDevice, OptimizerKeepsState>;
  static constexpr Options options = O;
  static constexpr bool offloads_state = true;  ///< see Region::away

  static constexpr Program rewrite(const Model& model, const Program& program) {
    const std::vector<Instruction> runs = updates_of(model, program);
    Program rewritten;
    rewritten.reserve(program.size() + 5 * runs.size() + 8);
    const auto add = [&](const Kind& kind, std::size_t run) {
      if (run < runs.size()) rewritten.push_back({&kind, runs[run].what, runs[run].count});
    };
    std::size_t next = 0;
    for (const Instruction& i : program) {
      if (i.kind->role == Role::norm) add(fetch_state_kind, 0);
      if (i.kind->role != Role::update) {
        rewritten.push_back(i);
        continue;
      }
      for (const int end = i.what + i.count;
           next < runs.size() && runs[next].what >= i.what && runs[next].what < end; ++next) {
        add(await_state_kind, next);
        add(fetch_state_kind, next + 1);
        rewritten.push_back(runs[next]);
        if (next > 0) add(await_store_kind, next - 1);
        add(store_state_kind, next);
      }
    }
    add(await_store_kind, runs.size() - 1);
    return rewritten;
  }

 private:
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
    for (int r = 0; r < int(model.regions.size()); ++r)
      if (model.is_away(region(r))) bytes += unit_region_bytes(model, r, unit);
    return bytes;
  }
};

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// Temporary weights: a unit's weights are fetched into the arena shortly before an instruction
// reads them, freed after it, and fetched again for the next reader (Rajbhandari et al. 2020, stage
// 3).
#pragma once
#include <algorithm>

#include "sinter/parallel/transfers.hpp"

namespace sinter {

namespace touches {
/// States that a unit's masters are read, and closed if they are temporary.
constexpr void read_masters(const Model& model, const Instruction& i, TouchList& out) {
  const bool come = model.masters() == Space::fetched && model.is_trained(i.what);
  out.push_back(come ? Touch{Use::consume, Space::fetched, i.what}
                     : Touch{Use::read, Space::master, i.what});
}
/// States that a unit's masters are read, and the fetch of its weights from all ranks starts.
constexpr void fetch_weights(const Model& model, const Instruction& i, TouchList& out) {
  read_masters(model, i, out);
  out.push_back({Use::fetch, Space::weights, i.what});
}
/// States that the fetch of a unit's weights ends.
constexpr void await_weights(const Model&, const Instruction& i, TouchList& out) {
  out.push_back({Use::finish, Space::weights, i.what});
}
/// States that a unit's weights are made from its masters, without a transfer.
constexpr void copy_weights(const Model& model, const Instruction& i, TouchList& out) {
  read_masters(model, i, out);
  out.push_back({Use::write, Space::weights, i.what});
}
}  // namespace touches

namespace traffic {
/// States that the weights of a unit come from the ranks that have shards of them.
template <Traffic::Does Does>
constexpr void fetch_weights(const Model& model, const Instruction& i, const OnRank&,
                             TrafficList& out) {
  const Traffic like{{}, Does, Space::weights, 0, 0, element_of_weights(model)};
  exchanged(model, i.what, from_shards, like, out);
}
}  // namespace traffic

namespace detail {
/// The functions that run these instructions (src/parallel/fetched_weights.cpp).
namespace executes {
void fetch_weights(Machine&, const Bound&);
void await_weights(Machine&, const Bound&);
void copy_weights(Machine&, const Bound&);
}  // namespace executes

/// The kind of the instruction that starts to fetch the weights of the unit `what`.
inline constexpr Kind fetch_weights_kind{.name = "fetch weights",
                                         .touch = touches::fetch_weights,
                                         .run = executes::fetch_weights,
                                         .role = Role::fetch,
                                         .by_shards = true,
                                         .traffic = traffic::fetch_weights<Traffic::starts>};
/// The kind of the instruction that waits for fetched weights.
inline constexpr Kind await_weights_kind{.name = "await weights",
                                         .touch = touches::await_weights,
                                         .run = executes::await_weights,
                                         .traffic = traffic::fetch_weights<Traffic::waits>};
/// The kind of the instruction that makes the weights of a unit whose masters each rank has: the
/// unit is not trained, or masters are offloaded.
inline constexpr Kind copy_weights_kind{
    .name = "copy weights", .touch = touches::copy_weights, .run = executes::copy_weights};

/// The units whose weights each instruction of a program reads.
class WeightReads {
  const Program& program;
  std::vector<short> units;
  std::vector<int> ends;  // end of each instruction's units in `units`

 public:
  constexpr WeightReads(const Model& model, const Program& p) : program(p) {
    units.reserve(2 * p.size());
    ends.reserve(p.size());
    TouchList list;
    list.reserve(4 * std::size_t(model.count()) + 8);
    for (const Instruction& i : p) {
      list.clear();
      i.kind->touch(model, i, list);
      for (const Touch& touch : list)
        if (touch.use == Use::read && touch.space == Space::weights) units.push_back(touch.index);
      ends.push_back(int(units.size()));
    }
  }
  /// The units whose weights the instruction at position t reads.
  constexpr std::span<const short> at(int t) const {
    const int begin = t == 0 ? 0 : ends[t - 1];
    return std::span(units).subspan(std::size_t(begin), std::size_t(ends[t] - begin));
  }
  /// The units whose weights the next reader after position t in the same loop reads, if any.
  constexpr std::span<const short> next(int t) const {
    while (++t < int(program.size())) {
      const Role role = program[t].kind->role;
      if (role == Role::loop || role == Role::end) break;
      if (!at(t).empty()) return at(t);
    }
    return {};
  }
};

/// Adds instructions that fetch weights of units from other ranks, or, if masters are not split,
/// make them of masters. Weights are fetched while the previous instruction that reads any runs,
/// and freed once read. What two consecutive readers share is fetched once.
constexpr Program fetch_weights(const Model& model, const Program& program) {
  const detail::WeightReads reads(model, program);
  Program rewritten;
  rewritten.reserve(3 * program.size() + 64);
  const bool split = model.splits(Space::master);
  const Kind* const fetch = split ? &fetch_weights_kind : nullptr;
  const Kind* const ready = split ? &await_weights_kind : &copy_weights_kind;
  std::span<const short> there;  // units whose weights are in the arena
  const auto add = [&](std::span<const short> units, const Kind* trained, const Kind* other) {
    for (const short u : units)
      if (const Kind* kind = model.is_trained(u) ? trained : other;
          kind && std::ranges::find(there, u) == there.end())
        rewritten.push_back({kind, u});
  };
  bool started = false;
  for (int t = 0; t < int(program.size()); ++t) {
    const std::span<const short> now = reads.at(t);
    if (now.empty()) {
      rewritten.push_back(program[t]);
      continue;
    }
    if (!started) there = {};  // the first reader of its loop
    if (!started) add(now, fetch, nullptr);
    add(now, ready, &copy_weights_kind);
    there = now;
    const std::span<const short> next = reads.next(t);
    add(next, fetch, nullptr);
    started = !next.empty();
    rewritten.push_back(program[t]);
  }
  return rewritten;
}
}  // namespace detail

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// Poisons dead memory, so that whoever reads it shows.
#pragma once
#include <cstring>

#include "program/ranks.hpp"
#include "support/held_gradients.hpp"

namespace sinter::detail::testing {

/// Whether a buffer holds something that may be read before instruction t of this iteration;
/// open_after() says the same of the time after it.
inline bool open_before(const Buffer& b, int t, int iteration) {
  bool carried = b.opened_by > b.first;  // from the first iteration to all others
  bool made = b.opened_by < t || (carried && iteration > 0);
  return b.first <= t && t <= b.last && made;
}
inline bool open_after(const Buffer& b, int t, int iteration) {
  bool carried = b.opened_by > b.first;
  bool made = b.opened_by <= t || (carried && iteration > 0);
  return b.first <= t && t < b.last && made;
}

/// Before and after each instruction, fills every byte that no open buffer covers with 0xFF (NaN,
/// or -1), and with them the workspace, which keeps nothing from one instruction to the next.
/// Before a step, it also fills all gradients.
class Poison : public Observer {
  const PlacementView& placement;
  const std::vector<Parameter> parameters;
  const bool trains;
  std::vector<std::pair<std::int64_t, std::int64_t>> live;

 public:
  Poison(const PlanView& plan, const PlacementView& p)
      : placement(p), parameters(list_parameters(plan.model)), trains(&p == &plan.training) {}

  void before(const Machine& machine, int t, int iteration) override {
    const OpenMemory open;
    if (t == 0 && trains) poison_gradients(machine);
    poison(machine, [&](const Buffer& b) { return open_before(b, t, iteration); });
  }
  void after(const Machine& machine, int t, int iteration) override {
    if (t + 1 == int(placement.program.size())) return;  // results are to be read
    const OpenMemory open;
    poison(machine, [&](const Buffer& b) { return open_after(b, t, iteration); });
  }

 private:
  void poison(const Machine& machine, const auto& is_open) {
    live.clear();
    for (const Buffer& b : placement.buffers)
      if (b.opened_by >= 0 && is_open(b)) live.emplace_back(b.offset, b.offset + b.bytes);
    std::sort(live.begin(), live.end());
    auto arena = machine.arena();
    live.emplace_back(std::int64_t(arena.size()), 0);
    std::int64_t at = placement.persistent;
    for (auto [begin, end] : live) {
      if (begin > at) std::memset(arena.data() + at, 0xFF, std::size_t(begin - at));
      at = std::max(at, end);
    }
  }
  /// Leaves out the padding between parameters, which stays zero.
  void poison_gradients(const Machine& machine) const {
    auto* gradients = machine.flat<std::byte>(Space::gradient).data;
    int bytes = machine.model().sizes.of(Type::gradient);
    for (const Parameter& p : parameters)
      for (const FlatSlice held : held_gradients(machine, p))
        std::memset(gradients + held.first * bytes, 0xFF, std::size_t(held.size * bytes));
  }
};

}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
#include "sinter/memory/offload.hpp"

#include <algorithm>

#include "sinter/hardware/offload_memory.hpp"
#include "sinter/run/bound_units.hpp"

namespace sinter::detail::executes {

namespace {

/// Calls visit(outside, here, bytes) for each slice of units' state on this rank: its address
/// outside of the arena, its address in it, and its size. The state has no shapes; the instruction
/// touches it as space number `number`.
void each_slice_outside(Machine& machine, const BoundUnits& units, Space space, const auto& visit,
                        int number = 0) {
  const Model& model = machine.program_model();
  const std::int64_t bytes = model.sizes.of(type_of(model, space));
  units.each_slice(
      std::array{space},
      [&](const PlacedSlice& slice) {
        const std::int64_t offset = slice.at(model.splits(space)) * bytes;
        visit(machine.parameters().offloaded_at(space) + offset, slice.here[0], slice.size * bytes);
      },
      number);
}

/// Calls visit(outside, here, bytes) for each contiguous part of a run of units' state on this
/// rank: its address outside of the arena, its address in it, and its size.
void each_stretch(Machine& machine, const Bound& bound, const auto& visit) {
  const ParameterStore& store = machine.parameters();
  const Model& model = machine.model();
  const Instruction& i = *bound.instruction;
  const BoundUnits units = BoundUnits::run(machine, bound);
  int number = 0;  // number of the space
  each_offloaded(model, [&](Space space) {
    const std::int64_t outside = store.offloaded_at(space);
    if (space == Space::master || !model.region_of(space).shape) {
      each_slice_outside(machine, units, space, visit, number++);
      return;
    }
    const std::size_t r = std::size_t(int(space) - int(Space::region));
    for (int k = 0; k < i.count; ++k) {
      std::int64_t begin = -1, end = 0;  // this rank's part; its pieces are adjacent
      for (const Parameter& p : store.of_unit(model.order[std::size_t(i.what + k)])) {
        if (p.frozen || !store.owns(p)) continue;
        const StatePart& part = p.state[r];
        if (begin < 0) begin = part.offset;
        end = part.offset + aligned(part.shape.bytes());
      }
      if (begin < end && begin >= 0) visit(outside + begin, units.buffer(number, k), end - begin);
    }
    ++number;
  });
}

}  // namespace

void fetch_state(Machine& machine, const Bound& bound) {
  OffloadMemory* const memory = machine.parameters().offload();
  if (!memory) return;  // another rank updates
  each_stretch(machine, bound, [&](std::int64_t outside, std::byte* here, std::int64_t bytes) {
    memory->start_fetch(outside, here, bytes);
  });
}

void fetch_masters(Machine& machine, const Bound& bound) {
  each_slice_outside(machine, BoundUnits::one(machine, bound), Space::master,
                     [&](std::int64_t outside, std::byte* here, std::int64_t bytes) {
                       machine.parameters().offload()->start_fetch(outside, here, bytes);
                     });
}

void await_state(Machine& machine, const Bound&) {
  if (OffloadMemory* memory = machine.parameters().offload()) memory->wait_for_fetches();
}

void store_state(Machine& machine, const Bound& bound) {
  OffloadMemory* const memory = machine.parameters().offload();
  if (!memory) return;
  each_stretch(machine, bound, [&](std::int64_t outside, std::byte* here, std::int64_t bytes) {
    memory->start_store(here, outside, bytes);
  });
}

void await_store(Machine& machine, const Bound&) {
  if (OffloadMemory* memory = machine.parameters().offload()) memory->wait_for_stores();
}

}  // namespace sinter::detail::executes

// SPDX-License-Identifier: Apache-2.0
#include "sinter/memory/offload.hpp"

#include <algorithm>

#include "sinter/hardware/offload_memory.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::executes {

namespace {

/// Calls visit(outside, here, bytes) with where each stretch of what this rank has of a run of units' state
/// lies outside of the arena, and where in it.
void each_stretch(const Machine& machine, const Bound& bound, const auto& visit) {
  const Model& model = machine.model();
  const Instruction& i = *bound.instruction;
  std::byte* const* here = bound.at;
  each_offloaded(model, [&](Space space) {
    const int r = int(space) - int(Space::region);  // of a region
    const std::int64_t outside = machine.offloaded_at(space);
    for (int k = i.what; k < i.what + i.count; ++k, ++here) {
      if (space != Space::master && model.regions[std::size_t(r)].shape) {
        std::int64_t begin = -1,
                     end = 0;  // of what this rank has; its parts lie one after the other
        for (const Parameter& p : machine.parameters_of(model.order[std::size_t(k)])) {
          if (p.frozen || !machine.owns(p)) continue;
          const StatePart& part = p.state[std::size_t(r)];
          if (begin < 0) begin = part.offset;
          end = part.offset + aligned(part.shape.bytes());
        }
        if (begin < end && begin >= 0) visit(outside + begin, *here, end - begin);
        continue;
      }
      const std::int64_t size = model.sizes.of(type_of(model, space));
      std::byte* part = *here;
      for (const ShardSlice& shard : machine.shards(k, 1)) {
        visit(outside + shard.at(model.splits(space)) * size, part, shard.size * size);
        part += shard.size * size;
      }
    }
  });
}

}  // namespace

void fetch_state(Machine& machine, const Bound& bound) {
  if (!machine.has_offload()) return;  // another rank updates
  each_stretch(machine, bound, [&](std::int64_t outside, std::byte* here, std::int64_t bytes) {
    machine.offload().start_fetch(outside, here, bytes);
  });
}

void fetch_masters(Machine& machine, const Bound& bound) {
  const Model& model = machine.program_model();
  const std::int64_t size = model.sizes.of(Type::master);
  const std::int64_t outside = machine.offloaded_at(Space::master);
  std::byte* here = bound.at[0];
  for (const bool decayed : {true, false})
    model.each_shard(model.part(bound.instruction->what, decayed), machine.communicator().rank(),
                     [&](const ShardSlice& shard) {
                       const std::int64_t held = shard.at(model.splits(Space::master));
                       machine.offload().start_fetch(outside + held * size, here,
                                                     shard.size * size);
                       here += shard.size * size;
                     });
}

void await_state(Machine& machine, const Bound&) {
  if (machine.has_offload()) machine.offload().wait_for_fetches();
}

void store_state(Machine& machine, const Bound& bound) {
  if (!machine.has_offload()) return;
  each_stretch(machine, bound, [&](std::int64_t outside, std::byte* here, std::int64_t bytes) {
    machine.offload().start_store(here, outside, bytes);
  });
}

void await_store(Machine& machine, const Bound&) {
  if (machine.has_offload()) machine.offload().wait_for_stores();
}

}  // namespace sinter::executes

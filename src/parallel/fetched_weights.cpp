// SPDX-License-Identifier: Apache-2.0
#include "sinter/parallel/fetched_weights.hpp"

#include <utility>

#include "sinter/comm/communicator.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::executes {

namespace {

/// The masters of a unit that comes and goes, from the beginning of what this rank has on; or where the rank
/// holds those of all units.
class Masters {
  const Machine& machine;
  const std::byte* fetched;  // null if they are there all the time
  const std::int64_t bytes = machine.program_model().sizes.of(Type::master);

 public:
  Masters(const Machine& m, const std::byte* of_unit) : machine(m), fetched(of_unit) {}
  /// Those from a place on, where the rank holds all; if they come and go, those that follow the last ones.
  const std::byte* next(std::int64_t held, std::int64_t size) {
    if (!fetched) return machine.flat<std::byte>(Space::master) + held * bytes;
    return std::exchange(fetched, fetched + size * bytes);
  }
};

}  // namespace

void fetch_weights(Machine& machine, const Bound& bound) {
  const Model& model = machine.program_model();
  const int unit = bound.instruction->what;
  const Element element = model.sizes.element[int(Type::compute)];
  const auto at = [&](std::int64_t first) {
    return bound.at[1] + model.in_unit(unit, first) * bytes_of(element);
  };
  Communicator& ranks = machine.communicator();
  Masters masters(machine, bound.at[0]);
  for (const bool decayed : {true, false}) {
    const FlatSlice part = model.part(unit, decayed);
    model.each_shard(part, ranks.rank(), [&](const ShardSlice& shard) {
      if (shard.size > 0)
        machine.make_weights(masters.next(shard.held, shard.size), at(shard.first), shard.size);
    });
    model.each_exchanged(part, [&](FlatSlice array, int owner) {
      ranks.start({traffic::from_shards(owner), at(array.first), array.size, element, owner});
    });
  }
}

void await_weights(Machine& machine, const Bound& bound) {
  const Model& model = machine.program_model();
  const int unit = bound.instruction->what;
  for (const bool decayed : {true, false})
    model.each_exchanged(model.part(unit, decayed), [&](FlatSlice array, int) {
      machine.communicator().wait(bound.at[0] +
                                  model.in_unit(unit, array.first) * model.sizes.of(Type::compute));
    });
}

void copy_weights(Machine& machine, const Bound& bound) {
  const Model& model = machine.program_model();
  const int unit = bound.instruction->what;
  Masters masters(machine, bound.at[0]);
  for (const bool decayed : {true, false}) {
    const ParameterOffsets& at = model.offsets[std::size_t(unit)];
    const std::int64_t before = decayed ? 0 : model.part_elements(unit, true);
    const std::int64_t size = decayed ? model.block(unit).decayed : model.block(unit).undecayed;
    const std::int64_t held = model.held_at(Space::master, decayed ? at.decayed : at.undecayed);
    if (size > 0)
      machine.make_weights(masters.next(held, model.part_elements(unit, decayed)),
                           bound.at[1] + before * model.sizes.of(Type::compute), size);
  }
}

}  // namespace sinter::executes

// SPDX-License-Identifier: Apache-2.0
#include "sinter/parallel/fetched_weights.hpp"

#include "sinter/comm/communicator.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::executes {

void fetch_weights(Machine& machine, const Bound& bound) {
  const Model& model = machine.program_model();
  const int unit = bound.instruction->what;
  const Element element = model.sizes.element[int(Type::compute)];
  const auto at = [&](std::int64_t first) {
    return bound.at[1] + model.in_unit(unit, first) * bytes_of(element);
  };
  Communicator& ranks = machine.communicator();
  for (const bool decayed : {true, false}) {
    const FlatSlice part = model.part(unit, decayed);
    model.each_shard(part, ranks.rank(), [&](const ShardSlice& shard) {
      if (shard.size > 0) machine.make_weights(shard.held, at(shard.first), shard.size);
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
  for (const bool decayed : {true, false}) {
    const ParameterOffsets& at = model.offsets[std::size_t(unit)];
    const std::int64_t before = decayed ? 0 : model.part_elements(unit, true);
    const std::int64_t size = decayed ? model.block(unit).decayed : model.block(unit).undecayed;
    if (size > 0)
      machine.make_weights(model.held_at(Space::master, decayed ? at.decayed : at.undecayed),
                           bound.at[1] + before * model.sizes.of(Type::compute), size);
  }
}

}  // namespace sinter::executes

// SPDX-License-Identifier: Apache-2.0
#include "sinter/parallel/fetched_weights.hpp"

#include "sinter/comm/communicator.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::executes {

namespace {

/// The decayed or the undecayed part of a unit.
struct Part {
  std::byte* weights;        // where they lie in the unit's buffer
  const std::byte* masters;  // what this rank has of them
  std::int64_t size, whole;  // elements, and those with padding
};
/// Calls visit(part) with each that has elements.
///   masters   what has been fetched of the unit, or null if its masters are there all the time
void each_part(const Machine& machine, int unit, const std::byte* masters, std::byte* weights,
               const auto& visit) {
  const Model& model = machine.program_model();
  const ParameterOffsets& at = model.offsets[std::size_t(unit)];
  const Block& block = model.block(unit);
  const std::int64_t of_master = model.sizes.of(Type::master);
  const int ranks = model.splits(Space::master) ? model.shards : 1;
  for (const bool decayed : {true, false}) {
    const std::int64_t whole = model.part_elements(unit, decayed);
    const std::int64_t held = model.held_at(Space::master, decayed ? at.decayed : at.undecayed);
    const std::byte* const kept = machine.flat<std::byte>(Space::master) + held * of_master;
    if (whole > 0)
      visit(Part{weights, masters ? masters : kept, decayed ? block.decayed : block.undecayed,
                 whole});
    weights += whole * model.sizes.of(Type::compute);
    if (masters) masters += whole / ranks * of_master;
  }
}

}  // namespace

void fetch_weights(Machine& machine, const Bound& bound) {
  const Model& model = machine.program_model();
  Communicator& ranks = machine.communicator();
  const Element element = model.sizes.element[int(Type::compute)];
  each_part(machine, bound.instruction->what, bound.at[0], bound.at[1], [&](const Part& part) {
    const std::int64_t shard = part.whole / model.shards;
    machine.make_weights(part.masters, part.weights + ranks.rank() * shard * bytes_of(element),
                         shard);
    ranks.start({Operation::all_gather, part.weights, part.whole, element});
  });
}

void await_weights(Machine& machine, const Bound& bound) {
  each_part(machine, bound.instruction->what, nullptr, bound.at[0],
            [&](const Part& part) { machine.communicator().wait(part.weights); });
}

void copy_weights(Machine& machine, const Bound& bound) {
  each_part(machine, bound.instruction->what, bound.at[0], bound.at[1],
            [&](const Part& part) { machine.make_weights(part.masters, part.weights, part.size); });
}

}  // namespace sinter::executes

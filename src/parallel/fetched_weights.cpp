// SPDX-License-Identifier: Apache-2.0
#include "sinter/parallel/fetched_weights.hpp"

namespace sinter::detail::executes {

namespace {

/// Makes weights, in a unit's buffer, from this rank's part of the unit's masters.
void make_weights(Machine& machine, const BoundUnits& unit) {
  unit.each_slice(std::array{Space::master, Space::weights}, [&](const PlacedSlice& slice) {
    machine.parameters().make_weights(slice.here[0], slice.here[1], slice.size);
  });
}

}  // namespace

void fetch_weights(Machine& machine, const Bound& bound) {
  const BoundUnits unit = BoundUnits::one(machine, bound);
  make_weights(machine, unit);
  start_exchange(unit, Space::weights, traffic::from_shards, 1);
}

void await_weights(Machine& machine, const Bound& bound) {
  await_exchange(BoundUnits::one(machine, bound), Space::weights);
}

void copy_weights(Machine& machine, const Bound& bound) {
  const Model& model = machine.program_model();
  const int unit = bound.instruction->what;
  if (model.is_trained(unit)) return make_weights(machine, BoundUnits::one(machine, bound));
  const ParameterOffsets& at = model.offsets[std::size_t(unit)];
  for (const bool decayed : {true, false}) {
    const std::int64_t before = decayed ? 0 : model.part_elements(unit, true);
    const std::int64_t size = decayed ? model.block(unit).decayed : model.block(unit).undecayed;
    const std::int64_t first = model.held_at(Space::master, decayed ? at.decayed : at.undecayed);
    if (size > 0)
      machine.parameters().make_weights(
          machine.flat<std::byte>(Space::master) + first * model.sizes.of(Type::master),
          bound.at[1] + before * model.sizes.of(Type::compute), size);
  }
}

}  // namespace sinter::detail::executes

// SPDX-License-Identifier: Apache-2.0
// What instructions of several parallel modes touch, what they state that ranks say to each other, and how they
// go through arrays.
#pragma once
#include "sinter/comm/communicator.hpp"
#include "sinter/program/kinds.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {

namespace touches {
/// Uses the gradients that backward makes of a run of units: as transfers do, and those that wait for them.
template <Use U>
constexpr void gradients(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, U, model.gradients, out);
}
/// So uses what layers read of the weights: the copy of the weights, or the masters.
template <Use U>
constexpr void weights(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, U, model.weights, out);
}
}  // namespace touches

namespace traffic {
/// The element of what layers read of the weights.
constexpr Element element_of_weights(const Model& model) {
  return model.sizes.element[int(model.weights == Space::master ? Type::master : Type::compute)];
}
/// States that losses, votes and squares of gradients are summed: the first three numbers of
/// kernel::Decision.
constexpr void norm(const Model&, const Instruction&, const OnRank&, TrafficList& out) {
  out.push_back({Operation::all_reduce, Traffic::both, Space::decision, 0, 3, Element::f64});
}
}  // namespace traffic

namespace executes {
/// Calls visit(array, size) with the decayed and the undecayed part of a run of units in a flat space.
template <class T>
void each_array(Machine& machine, Space space, const Instruction& i, const auto& visit) {
  for (bool decayed : {true, false})
    if (const FlatSlice part = machine.flat_slice(i.what, i.count, decayed); part.size > 0)
      visit(machine.flat<T>(space) + part.first, part.size);
}

/// Waits for the sums of the gradients of a run of units.
template <class Gradient>
void await_gradients(Machine& machine, const Bound& bound) {
  each_array<Gradient>(machine, Space::gradient, *bound.instruction,
                       [&](Gradient* array, std::int64_t) { machine.communicator().wait(array); });
}
}  // namespace executes

}  // namespace sinter

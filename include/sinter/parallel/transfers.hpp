// SPDX-License-Identifier: Apache-2.0
// Common parts of parallel modes: what their instructions touch, what they state to communicate,
// and loops over arrays.
#pragma once
#include "sinter/comm/communicator.hpp"
#include "sinter/program/kinds.hpp"
#include "sinter/run/bound_units.hpp"

namespace sinter {

namespace touches {
/// States the use U of a run of units' gradients, as a transfer or its wait has it.
template <Use U>
constexpr void gradients(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, U, model.gradients(), out);
}
/// States the use U of the weights that layers of a run of units read: the copy, or the masters.
template <Use U>
constexpr void weights(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, U, model.weights(), out);
}
}  // namespace touches

namespace traffic {
/// The element type of the weights that layers read.
constexpr Element element_of_weights(const Model& model) {
  return model.sizes.element[int(model.weights() == Space::master ? Type::master : Type::compute)];
}
/// The operations by which ranks exchange a unit's arrays.
struct Exchange {
  Operation of_shards;  ///< for a whole part, of which each rank has a shard
  Operation of_owner;   ///< for what one rank owns
  /// The operation for an array of this owner, as Model::each_exchanged() numbers owners.
  constexpr Operation operator()(int owner) const { return owner < 0 ? of_shards : of_owner; }
};
/// The exchange of gradients, which go to the ranks whose shards they are.
inline constexpr Exchange to_shards{Operation::reduce_scatter, Operation::reduce};
/// The exchange of weights, which come from the ranks whose shards they are.
inline constexpr Exchange from_shards{Operation::all_gather, Operation::broadcast};

/// States a transfer `like` for each array of a unit that ranks exchange.
constexpr void exchanged(const Model& model, int unit, Exchange exchange, Traffic like,
                         TrafficList& out) {
  for (const bool decayed : {true, false})
    model.each_exchanged(model.part(unit, decayed), [&](detail::FlatSlice array, int owner) {
      like.operation = exchange(owner);
      like.first = array.first;
      like.count = array.size;
      like.peer = owner;
      out.push_back(like);
    });
}
}  // namespace traffic

namespace detail {
namespace executes {
/// Calls visit(array, size) with the decayed and the undecayed part of a run of units in a flat
/// space.
template <class T>
void each_array(Machine& machine, Space space, const Instruction& i, const auto& visit) {
  for (bool decayed : {true, false})
    if (const FlatSlice part = machine.model().slice(i.what, i.count, decayed); part.size > 0)
      visit(machine.flat<T>(space) + part.first, part.size);
}

/// Starts the exchange of units' arrays in a space, which the instruction touches as number
/// `number`.
inline void start_exchange(const BoundUnits& units, Space space, traffic::Exchange exchange,
                           int number = 0) {
  const Element element = units.element(space);
  units.each_exchanged(space, number, [&](std::byte* array, std::int64_t size, int owner) {
    units.ranks().start({exchange(owner), array, size, element, owner});
  });
}
/// Waits for the exchange of units' arrays in the space that the instruction touches first.
inline void await_exchange(const BoundUnits& units, Space space) {
  units.each_exchanged(space, 0,
                       [&](std::byte* array, std::int64_t, int) { units.ranks().wait(array); });
}

/// Waits for the sums of the gradients of a run of units.
template <class Gradient>
void await_gradients(Machine& machine, const Bound& bound) {
  each_array<Gradient>(machine, Space::gradient, *bound.instruction,
                       [&](Gradient* array, std::int64_t) { machine.communicator().wait(array); });
}
}  // namespace executes
}  // namespace detail

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// The units that an instruction works on, and where they lie: one loop for all rows of the table of
// spaces.
#pragma once
#include <array>
#include <utility>

#include "sinter/comm/communicator.hpp"
#include "sinter/plan/placement.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::detail {

/// A slice of units' parts on which this rank works, never empty.
struct PlacedSlice : ShardSlice {
  std::span<const short> units;      ///< the units whose parts it covers
  std::array<std::byte*, 8> here{};  ///< its address in each space of each_slice()
  /// Its address in space number j, as elements of type T.
  template <class T>
  T* in(int j) const {
    return reinterpret_cast<T*>(here[std::size_t(j)]);
  }
};

/// The units that an instruction works on, with the buffers of them that it touches.
/// requires  the instruction touches one space after the other, each for all units, as
///           touches::each() does
class BoundUnits {
  Machine& machine;
  const Bound& bound;
  const Model& model;
  std::span<const short> units;
  bool is_run;  // in Model::order

 public:
  /// Takes the instruction's run of units in Model::order.
  static BoundUnits run(Machine& machine, const Bound& bound) {
    const Instruction& i = *bound.instruction;
    const Model& model = machine.model();
    const std::span run = model.order.subspan(std::size_t(i.what), std::size_t(i.count));
    return {machine, bound, model, run, true};
  }
  /// Takes the unit `what` of the program that runs.
  static BoundUnits one(Machine& machine, const Bound& bound) {
    return {machine, bound, machine.program_model(), {&bound.instruction->what, 1}, false};
  }

  /// The instruction's buffer of its unit number k in its space number j. Null if the space lives
  /// through all steps.
  std::byte* buffer(int j, int k) const { return bound.at[std::size_t(j) * units.size() + k]; }

  /// Calls visit(PlacedSlice) with each slice on which this rank works, in the order of the units.
  /// Visits adjacent units together.
  ///   spaces   the spaces that the instruction touches, in its order, from number `first` on;
  ///            `master` also stands for `fetched`. In a region with shapes a slice begins where
  ///            the unit's buffer does.
  /// requires  the units are trained
  void each_slice(std::span<const Space> spaces, const auto& visit, int first = 0) const {
    const int rank = model.shares_update() ? machine.communicator().rank() : 0;
    const auto place = [&](const ShardSlice& slice, int k, int count, std::int64_t packed) {
      if (slice.size == 0) return;
      PlacedSlice placed{slice, units.subspan(std::size_t(k), std::size_t(count))};
      for (std::size_t j = 0; j < spaces.size(); ++j)
        placed.here[j] = address(spaces[j], buffer(first + int(j), k), units[k], slice, packed);
      visit(std::as_const(placed));
    };
    bool together = is_run && model.shards == 1;  // and no unit has a buffer of its own
    for (int j = 0; together && j < int(spaces.size()); ++j) together = !buffer(first + j, 0);
    const int count = int(units.size()), at_once = together ? count : 1;
    if (together && units.size() == model.order.size())  // all that is trained is one array
      return model.each_shard({0, model.elements()}, rank,
                              [&](const ShardSlice& all) { place(all, 0, count, 0); });
    for (int k = 0; k < count; k += at_once) {
      std::int64_t packed = 0;
      for (const bool decayed : {true, false})
        model.each_shard(together ? model.slice(bound.instruction->what, count, decayed)
                                  : model.part(units[k], decayed),
                         rank, [&](const ShardSlice& slice) {
                           place(slice, k, at_once, packed);
                           packed += slice.size;
                         });
    }
  }
  /// Calls visit(address, size, owner) with each array of the units that ranks exchange
  /// (Model::each_exchanged). The space is number `number` of the instruction, and holds whole
  /// arrays.
  /// requires  the units are trained
  void each_exchanged(Space space, int number, const auto& visit) const {
    for (int k = 0; k < int(units.size()); ++k)
      for (const bool decayed : {true, false})
        model.each_exchanged(model.part(units[k], decayed), [&](FlatSlice array, int owner) {
          visit(address(space, buffer(number, k), units[k], {array, array.first}, 0), array.size,
                owner);
        });
  }
  /// The type of the elements of a space without shapes.
  Element element(Space space) const {
    return model.sizes.element[std::size_t(type_of(model, space))];
  }
  /// This rank's communicator, see Machine::communicator().
  Communicator& ranks() const { return machine.communicator(); }

 private:
  BoundUnits(Machine& m, const Bound& b, const Model& of, std::span<const short> u, bool run)
      : machine(m), bound(b), model(of), units(u), is_run(run) {}

  /// The address of a slice in a space: in the unit's buffer or, if that is null, in the flat
  /// space.
  ///   packed   number of this rank's elements of the unit before the slice
  std::byte* address(Space space, std::byte* buffer, int unit, const ShardSlice& slice,
                     std::int64_t packed) const {
    const bool split = model.splits(space);
    if (!buffer) return machine.parameters().address(space, slice.at(split));
    if (space >= Space::region && model.region_of(space).shape) return buffer;
    return buffer + (split ? packed : model.in_unit(unit, slice.first)) * bytes_of(element(space));
  }
};

}  // namespace sinter::detail

// The copy of the weights in the compute type, where that is not the masters' type.
#pragma once
#include "sinter/program/kinds.hpp"

namespace sinter {

namespace executes {
void cast(Machine&, const Bound&);
}
namespace touches {
constexpr void cast(const Model& model, const Instruction& i, TouchList& out) {
  range(model, i, Use::read, Space::master, out);
  range(model, i, Use::write, Space::weights, out);
}
}  // namespace touches

/// Makes the copy of the weights of a run of units anew.
inline constexpr Kind cast{"cast", touches::cast, executes::cast};

/// Whether an instruction leaves the copy of the weights of its units as it must be.
constexpr bool writes_weights(const Model& model, const Instruction& i) {
  TouchList list;
  i.kind->touch(model, i, list);
  for (const Touch& touch : list)
    if (touch.space == Space::weights && touch.use == Use::write) return true;
  return false;
}

/// One cast of each unit in an optimizer step, whatever the accumulation: after its update, unless
/// that made the copy itself.
constexpr Program cast_after_update(const Model& model, const Program& program) {
  Program result = room_for(program);
  for (const Instruction& i : program) {
    result.push_back(i);
    if (i.kind->role == Role::update && !writes_weights(model, i))
      result.push_back({&cast, i.what, i.count});
  }
  return result;
}

}  // namespace sinter

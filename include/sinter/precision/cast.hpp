// SPDX-License-Identifier: Apache-2.0
// The copy of the weights in the compute type, if master weights have another type.
#pragma once
#include "sinter/program/kinds.hpp"

namespace sinter {

namespace detail {
namespace executes {
void cast(Machine&, const Bound&);
}
}  // namespace detail
namespace touches {
/// States what `cast` touches: it reads the masters and writes the copy of the weights.
constexpr void cast(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, Use::read, Space::master, out);
  each(model, i, Use::write, Space::weights, out);
}
}  // namespace touches

namespace detail {
/// The kind of the instruction that casts the masters of consecutive units to weights.
inline constexpr Kind cast{.name = "cast",
                           .touch = touches::cast,
                           .run = executes::cast,
                           .if_applied = true,
                           .by_shards = true};

/// True if an instruction writes the copy of the weights of its units.
constexpr bool writes_weights(const Model& model, const Instruction& i) {
  TouchList list;
  i.kind->touch(model, i, list);
  for (const Touch& touch : list)
    if (touch.space == Space::weights && touch.use == Use::write) return true;
  return false;
}

/// Adds a `cast` after each update that does not write the copy itself: one per unit and step,
/// whatever the number of micro-batches. Temporary copies are made by other instructions.
constexpr Program cast_after_update(const Model& model, const Program& program) {
  if (model.fetches_weights()) return program;
  Program rewritten = room_for(program);
  for (const Instruction& i : program) {
    rewritten.push_back(i);
    if (i.kind->role == Role::update && !writes_weights(model, i))
      rewritten.push_back({&cast, i.what, i.count});
  }
  return rewritten;
}
}  // namespace detail

}  // namespace sinter

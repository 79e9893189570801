// SPDX-License-Identifier: Apache-2.0
// How programs copy the weights.
#pragma once
#include "sinter/recipe/plan.hpp"

namespace sinter::detail::testing {

/// Whether a step copies each unit's weights once, outside the loop over micro-batches.
template <class R>
constexpr bool copied_once() {
  const Model& model = Plan<R>::model;
  std::vector<int> made(model.units.size(), 0);
  bool in_loop = false;
  for (const Instruction& i : Plan<R>::program) {
    if (i.kind->role == Role::loop) in_loop = true;
    if (i.kind->role == Role::end) in_loop = false;
    TouchList list;
    i.kind->touch(model, i, list);
    for (const Touch& touch : list)
      if (touch.space == Space::weights && touch.use == Use::write)
        made[touch.index] += in_loop ? 100 : 1;
  }
  for (short group : model.order)
    if (made[group] != 1) return false;
  return true;
}
}  // namespace sinter::detail::testing

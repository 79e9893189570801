// SPDX-License-Identifier: Apache-2.0
// Where gradients lie that live through all steps.
#pragma once
#include "sinter/run/machine.hpp"

namespace sinter::detail::testing {

/// Where a machine holds gradients of a parameter: whole, or, where it keeps its shards alone, these.
inline std::vector<FlatSlice> held_gradients(const Machine& machine, const Parameter& p) {
  if (p.frozen) return {};
  if (!machine.model().splits(Space::gradient)) return {{p.offset, p.size}};
  std::vector<FlatSlice> held;
  for (const ParameterStore::Piece& piece : machine.parameters().pieces(Space::gradient, p))
    held.push_back({piece.local, piece.size});
  return held;
}

}  // namespace sinter::detail::testing

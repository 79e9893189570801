// SPDX-License-Identifier: Apache-2.0
// What some policy of a recipe does, whichever it is.
#pragma once
#include "sinter/policy/claims.hpp"
#include "sinter/policy/hooks.hpp"

namespace sinter {

/// Whether a policy of the recipe R says what of the data's tokens is shown and predicted.
template <class R>
constexpr bool has_objective() {
  bool found = false;
  for_each_policy(typename R::all{}, [&]<hook::HasObjective P>(P*) { found = true; });
  return found;
}

/// Whether a policy of the recipe R pads sequences.
template <class R>
constexpr bool pads_sequences() {
  bool found = false;
  for_each_policy(typename R::all{}, [&]<class P>(P*) {
    if constexpr (requires { bool(P::pads); }) found |= P::pads;
  });
  return found;
}

}  // namespace sinter

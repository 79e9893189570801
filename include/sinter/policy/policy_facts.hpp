// SPDX-License-Identifier: Apache-2.0
// Questions about all policies of a recipe at once.
#pragma once
#include "sinter/policy/claims.hpp"
#include "sinter/policy/hooks.hpp"

namespace sinter::detail {

/// True if a policy of the recipe R chooses which tokens of the data are shown and predicted.
template <class R>
constexpr bool has_objective() {
  bool found = false;
  for_each_policy(typename R::all{}, [&]<hook::HasObjective P>(P*) { found = true; });
  return found;
}

/// True if a policy of the recipe R pads sequences.
template <class R>
constexpr bool pads_sequences() {
  bool found = false;
  for_each_policy(typename R::all{}, [&]<class P>(P*) { found |= hook::pads<P>; });
  return found;
}

/// True if evaluations of the recipe R write replies.
template <class R>
constexpr bool writes_replies() {
  bool found = false;
  for_each_policy(typename R::all{}, [&]<hook::WritesReplies P>(P*) { found = true; });
  return found;
}

/// True if the recipe R has a policy in the slot of this name.
template <class R>
constexpr bool claims(std::string_view slot) {
  bool found = false;
  for_each_policy(typename R::all{}, [&]<class P>(P*) { found |= P::slot::name == slot; });
  return found;
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// The rules that a policy has for recipes that use it.
#pragma once
#include "sinter/policy/hooks.hpp"

namespace sinter {

/// Rules of a policy. A rule of a recipe, listed in `rules`, has
///   template <class R> static constexpr bool holds;
///   template <class R> static auto enforce();   // a static_assert that says what, why and fix
/// A rule of the traced model, listed in `model_rules`, replaces the first by
///   static constexpr bool holds(const Model&);   // or with template <class R> before it
/// enforce() is instantiated only if the rule does not hold.
template <class... Rules>
struct RuleList {};

namespace detail {

template <class R, class... Rules>
constexpr bool hold(RuleList<Rules...>) {
  return (Rules::template holds<R> && ...);
}
/// True if the recipe R obeys the rules of the policy P.
template <class R, class P>
[[nodiscard]] constexpr bool rules_hold() {
  if constexpr (hook::HasRules<P>) {
    return hold<R>(typename P::rules{});
  } else {
    return true;
  }
}

}  // namespace detail
}  // namespace sinter

// What a policy demands of the recipes that use it.
#pragma once

namespace sinter {

/// Rules of a policy: each has `template <class R> static constexpr bool holds` and `template
/// <class R> static auto enforce()`, which holds the static_assert with what, why and fix.
template <class... Rules>
struct RuleList {};

/// A rule of the traced model, which a policy lists in `model_rules` (RuleList): `static constexpr
/// bool holds(const Model&)`, and `template <class R> static auto enforce()` as above, which is
/// named only where the rule does not hold.

namespace detail {

template <class R, class... Rules>
constexpr bool hold(RuleList<Rules...>) {
  return (Rules::template holds<R> && ...);
}
/// Whether what policy P asks of a recipe is so in R.
template <class R, class P>
constexpr bool rules_hold() {
  if constexpr (requires { typename P::rules; }) {
    return hold<R>(typename P::rules{});
  } else {
    return true;
  }
}

}  // namespace detail
}  // namespace sinter

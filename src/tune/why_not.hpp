// SPDX-License-Identifier: Apache-2.0
// Why a combination of policies is no recipe, in words and without a compile error.
#pragma once
#include "sinter/recipe/plan.hpp"
#include "tune/spelling.hpp"

namespace sinter::detail::tune {

/// The reason that a rule gives, or its name.
template <class Rule>
std::string reason_of() {
  if constexpr (requires { Rule::reason; }) {
    return std::string(Rule::reason);
  } else {
    return short_type_name<Rule>();
  }
}

/// The reason of the first rule in a list that does not hold for the recipe R, or "".
template <class R, class... Rules>
std::string broken(RuleList<Rules...>) {
  std::string reason;
  ((reason.empty() && !Rules::template holds<R> ? void(reason = reason_of<Rules>()) : void()), ...);
  return reason;
}
/// The same of rules of the traced model.
template <class R, class... Rules>
std::string broken_by_model(RuleList<Rules...>) {
  std::string reason;
  ((reason.empty() && !model_obeys<R, Rules>() ? void(reason = reason_of<Rules>()) : void()), ...);
  return reason;
}

template <class... All>
constexpr bool any_option_is_mistaken(PolicyList<All...>) {
  return (option_mistakes<All>.any() || ...);
}

template <class R, class... Rules>
constexpr bool obeys_all_of_model(RuleList<Rules...>) {
  return (model_obeys<R, Rules>() && ...);
}
template <class R, class... All>
constexpr bool obeys_all_of_model(PolicyList<All...>) {
  return (obeys_all_of_model<R>(hook::model_rules<All>) && ...);
}
/// True if the options of the recipe R are in their ranges, and the rules of all its policies hold. (Its
/// programs are proved sound where it is trained.)
/// requires  R has one policy at most for each slot
template <class R>
constexpr bool is_allowed() {
  if constexpr (!R::template may_exist<R>()) {
    return false;
  } else {
    return obeys_all_of_model<R>(typename R::all{});
  }
}

/// Why the recipe R is not allowed: the first reason, or "" if it is.
/// requires  R has one policy at most for each slot
template <class R>
std::string why_not() {
  std::string reason;
  if constexpr (is_allowed<R>()) return reason;
  auto first = [&](std::string other) {
    if (reason.empty()) reason = std::move(other);
  };
  if constexpr (any_option_is_mistaken(typename R::all{})) {
    for_each_policy(typename R::all{}, [&]<class P>(P*) {
      if (option_mistakes<P>.any())
        first("an option of " + policy_text<P>() + " is outside its range");
    });
  } else if constexpr (!R::template may_exist<R>()) {
    for_each_policy(typename R::all{}, [&]<class P>(P*) { first(broken<R>(hook::rules<P>)); });
  } else {
    for_each_policy(typename R::all{},
                    [&]<class P>(P*) { first(broken_by_model<R>(hook::model_rules<P>)); });
  }
  return reason;
}

}  // namespace sinter::detail::tune

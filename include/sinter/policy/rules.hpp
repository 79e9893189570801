// SPDX-License-Identifier: Apache-2.0
// The rules that a policy has for recipes that use it.
#pragma once
#include <string_view>

#include "sinter/program/model.hpp"

/// Defines the rule `name`, a condition on the recipe R. If it is false, the message is the
/// recipe's compile error; it says what, why and fix.
///   SINTER_RULE(HeadsDivideWidth, R::model::options.width % R::model::options.heads == 0,
///               "Gpt2: heads does not divide width. Why: … Fix: …");
/// A condition with a comma between < and > stands in parentheses. A rule may be a template, with
/// template <…> before the macro. A fourth argument is the rule's `reason`, for programs that list
/// which policies do not go together.
#define SINTER_RULE(name, condition, message, ...)                       \
  struct name {                                                          \
    __VA_OPT__(static constexpr ::std::string_view reason{__VA_ARGS__};) \
    template <class R>                                                   \
    static constexpr bool holds = condition;                             \
    template <class R>                                                   \
    static auto enforce() {                                              \
      static_assert(holds<R>, message);                                  \
    }                                                                    \
  }
/// Defines the rule `name`, a condition on the traced `model`, which is a const Model&, and on the
/// recipe R. Otherwise as SINTER_RULE.
#define SINTER_MODEL_RULE(name, condition, message)                              \
  struct name {                                                                  \
    template <class R>                                                           \
    static constexpr bool holds([[maybe_unused]] const ::sinter::Model& model) { \
      return condition;                                                          \
    }                                                                            \
    template <class R>                                                           \
    static auto enforce() {                                                      \
      static_assert(sizeof(R) == 0, message);                                    \
    }                                                                            \
  }

namespace sinter {

/// Rules of a policy. SINTER_RULE defines a rule of a recipe, listed in `rules`. A rule that needs
/// several statements may be a struct, with
///   template <class R> static constexpr bool holds;
///   template <class R> static auto enforce();   // a static_assert that says what, why and fix
/// SINTER_MODEL_RULE defines a rule of the traced model, listed in `model_rules`. A struct replaces
/// the first member by
///   static constexpr bool holds(const Model&);   // or with template <class R> before it
/// enforce() is instantiated only if the rule does not hold.
template <class... Rules>
struct RuleList {};

namespace detail {
template <class R, class... Rules>
constexpr bool hold(RuleList<Rules...>) {
  return (Rules::template holds<R> && ...);
}
template <class... Rules>
void is_rule_list(RuleList<Rules...>);
}  // namespace detail
}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <string>

#include "sinter/graph/names.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// The slot of Groups, which gives parameters a rate and decay of their own.
struct groups {
  static constexpr std::string_view name = "groups";
};
}  // namespace slot

struct GroupOptions {
  double learning_rate = 1;  ///< factor of the step's rate; at least 0
  detail::ParameterGroup::Decay decay =
      detail::ParameterGroup::usual;  ///< whether weight decay applies
};

/// A group of parameters whose names match a pattern; * stands for any characters.
template <detail::Text Names, GroupOptions O = {}>
struct Group {
  /// The group as data, for Groups.
  static constexpr detail::ParameterGroup value{Names.text, O.learning_rate, O.decay};
};

namespace detail {
template <class P>
concept IsGroup = requires {
  { P::value } -> std::convertible_to<ParameterGroup>;
};

template <class P>
auto this_is_not_a_group() {
  static_assert(IsGroup<P>,
                "Groups: it is made of groups, and P, in this error, is none. Why: a group says "
                "which parameters it is of, and what is different for them. Fix: as in "
                "Groups<Group<\"wte.*\", {.learning_rate = 0.1}>>.");
}

/// True if a group's factor is finite and at least 0, or if P is not a group.
template <class P>
constexpr bool factor_is_allowed() {
  if constexpr (IsGroup<P>) return Range().at_least(0).holds(P::value.learning_rate);
  return true;
}
template <class... All>
SINTER_RULE(
    FactorsAreAllowed, (factor_is_allowed<All>() && ...),
    "Groups: the learning_rate of a group is below 0, or not finite. What: the groups, with their "
    "factors, are in this error. Why: it is a factor of the learning rate, and below 0 the loss "
    "would be climbed. Fix: at least 0; 0 keeps the parameters as they are.");
}  // namespace detail

/// Gives parameters factors of the learning rate, and weight decay, by their names:
///   Groups<Group<"wte.*", {.learning_rate = 0.1}>,
///          Group<"*.bias", {.decay = ParameterGroup::never}>>
/// A parameter is in the first group that matches its name. Without a match its factor is 1, and it
/// decays if it is a matrix. A group without any trained parameter does not compile.
template <class... All>
struct Groups {
  using slot = slot::groups;
  using rules = RuleList<detail::FactorsAreAllowed<All...>>;

 private:
  template <class P>
  static constexpr detail::ParameterGroup value_of() {
    if constexpr (detail::IsGroup<P>) {
      return P::value;
    } else {
      (void)&detail::this_is_not_a_group<P>;
      return {};
    }
  }

 public:
  static constexpr std::array<detail::ParameterGroup, sizeof...(All)> parameter_groups{
      value_of<All>()...};
  /// The groups in words, such as "wte.*: rate × 0.1, *.bias: rate × 1, not decayed".
  static std::string text() {
    constexpr const char* decay[]{"", ", not decayed", ", decayed"};
    std::string all;
    for (const detail::ParameterGroup& group : parameter_groups) {
      char number[40];
      std::snprintf(number, sizeof number, ": rate × %g", group.learning_rate);
      all += (all.empty() ? "" : ", ") + std::string(group.pattern) + number + decay[group.decay];
    }
    return all;
  }
};

}  // namespace sinter

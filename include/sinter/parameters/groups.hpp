#pragma once
#include "../concepts.hpp"
#include "../pattern.hpp"

namespace sinter {

namespace slot {
struct groups {
  static constexpr std::string_view name = "groups";
};
}  // namespace slot

/// learning_rate: a factor, of at least 0, of the step's rate.
struct GroupOptions {
  double learning_rate = 1;
  ParameterGroup::Decay decay = ParameterGroup::usual;
};

/// The parameters whose names match a pattern, in which * stands for any letters.
template <Pattern Names, GroupOptions O = {}>
struct Group {
  static constexpr ParameterGroup value{Names.text, O.learning_rate, O.decay};
};

template <class... All>
struct FactorsAreAllowed {
  template <class R>
  static constexpr bool holds =
      (Range("learning_rate").at_least(0).holds(All::value.learning_rate) && ...);
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "Groups: the learning_rate of a group is below 0, or not finite. What: the "
                  "groups, with their factors, are in this error. Why: it is a factor of the "
                  "learning rate, and below 0 the loss would be climbed. Fix: at least 0; 0 keeps "
                  "the parameters as they are.");
  }
};

/// Parameter groups: factors of the learning rate, and weight decay, by name:
///   Groups<Group<"wte.*", {.learning_rate = 0.1}>, Group<"*.bias", {.decay =
///   ParameterGroup::never}>>
/// A parameter is in the first group that matches; in none, it has a factor of 1, and decay if it
/// is a matrix. A pattern that no parameter matches does not compile.
template <class... All>
struct Groups {
  using slot = slot::groups;
  using rules = RuleList<FactorsAreAllowed<All...>>;
  static constexpr std::array<ParameterGroup, sizeof...(All)> parameter_groups{All::value...};
};

}  // namespace sinter

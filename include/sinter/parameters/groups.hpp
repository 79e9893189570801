#pragma once
#include "../concepts.hpp"
#include "../pattern.hpp"

namespace sinter {

namespace slot {
struct groups {
  static constexpr std::string_view name = "groups";
};
}  // namespace slot

struct GroupOptions {
  double learning_rate = 1;
  ParameterGroup::Decay decay = ParameterGroup::usual;
};

/// The parameters whose names match a pattern, in which * stands for any letters.
template <Pattern Names, GroupOptions O = {}>
struct Group {
  static constexpr ParameterGroup value{Names.text, O.learning_rate, O.decay};
};

/// Parameter groups: factors of the learning rate, and weight decay, by name:
///   Groups<Group<"wte.*", {.learning_rate = 0.1}>, Group<"*.bias", {.decay =
///   ParameterGroup::never}>>
/// A parameter is in the first group that matches; in none, it has a factor of 1, and decay if it
/// is a matrix. A pattern that no parameter matches does not compile.
template <class... All>
struct Groups {
  using slot = slot::groups;
  static constexpr std::array<ParameterGroup, sizeof...(All)> parameter_groups{All::value...};
};

}  // namespace sinter

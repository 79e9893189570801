// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sinter/graph/names.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace slot {
/// The slot of Freeze, which freezes parameters.
struct freeze {
  static constexpr std::string_view name = "freeze";
};
}  // namespace slot

namespace detail {
template <Text... Names>
SINTER_RULE(FreezeNamesSomething, sizeof...(Names) > 0,
            "Freeze: no name is given. Why: it would freeze nothing, in silence. Fix: name what is "
            "frozen, as in Freeze<\"h.0\">, or leave Freeze out.");
}  // namespace detail

/// Freezes parameters: Freeze<"wte", "wpe", "h.0">, or Freeze<"h.*">. They have no gradient and no
/// state, and what only they need is not computed: units before the first trained one keep nothing
/// and run no backward. Names are those of parameters, as `describe` lists them, or their prefixes
/// up to a dot. Only whole units can be frozen, such as a transformer block or the two embeddings
/// together. Names that match nothing, or only a part of a unit, do not compile.
template <detail::Text... Names>
struct Freeze {
  using slot = slot::freeze;
  using rules = RuleList<detail::FreezeNamesSomething<Names...>>;
  static constexpr std::array<const char*, sizeof...(Names)> frozen{Names.text...};
  /// The names, separated by commas.
  static std::string text() {
    std::string all;
    for (const char* name : frozen) all += (all.empty() ? "" : ", ") + std::string(name);
    return all;
  }
};

}  // namespace sinter

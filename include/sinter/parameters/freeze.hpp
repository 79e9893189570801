#pragma once
#include "../concepts.hpp"
#include "../pattern.hpp"

namespace sinter {

namespace slot {
struct freeze {
  static constexpr std::string_view name = "freeze";
};
}  // namespace slot

/// Keeps parameters as they are: Freeze<"wte", "wpe", "h.0">, or Freeze<"h.*">. They have no
/// gradient and no state, and what only they need is not computed: units before the first one that
/// is trained keep nothing and run no backward. The names are those of parameters that `describe`
/// lists, or their parts before a dot. What is frozen are whole units, as a block or the embeddings
/// together; a name that nothing has, or that is of a part of a unit alone, does not compile.
template <Pattern... Names>
struct Freeze {
  static_assert(sizeof...(Names) > 0, "Freeze: name what is frozen, as in Freeze<\"h.0\">.");
  using slot = slot::freeze;
  static constexpr std::array<const char*, sizeof...(Names)> frozen{Names.text...};
};

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
#include "cli/changes.hpp"

#include <fmt/format.h>

namespace sinter::detail::cli {

std::string changes_text(const RecipeView& recipe, const Arguments& a) {
  std::string text = fmt::format("options seed {}", a.seed.value_or(0));
  if (a.order == Order::sequential) text += ", order sequential (default shuffled)";
  for (const Option& option : recipe.options) {
    const std::string now = text_of(option);
    if (const auto before = a.defaults.find(option.dotted());
        before != a.defaults.end() && before->second != now)
      text += fmt::format(", {} {} (default {})", option.dotted(), now, before->second);
  }
  return text + "\n";
}

}  // namespace sinter::detail::cli

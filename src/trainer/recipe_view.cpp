// Whether a recipe's options, as they are now, may be.
#include <fmt/format.h>

#include "sinter/error.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter {

namespace {

struct Number {
  bool is = false;
  double value = 0;
  std::string text{};
};

Number number_in(const Option& option) {
  return std::visit(
      [](auto value) -> Number {
        using Value = decltype(value);
        if constexpr (std::is_pointer_v<Value> && !std::is_same_v<Value, bool*>) {
          return {true, double(*value), fmt::format("{}", *value)};
        } else {
          return {};
        }
      },
      option.value);
}

void check_range(const Option& option) {
  const Number number = number_in(option);
  if (!option.range || !number.is || option.range->holds(number.value)) return;
  const TextBuilder bounds = option.range->text();
  throw ArgumentError(
      fmt::format("Sinter: {} is {}, but it must be finite{}{}. Change it to such a number.",
                  option.dotted(), number.text, bounds.view().empty() ? "" : ", ", bounds.view()));
}

/// "schedule.warmup is 100, schedule.steps is 20"
std::string numbers_of(const RecipeView& recipe, std::string_view slot) {
  std::string text;
  for (const Option& option : recipe.options)
    if (const Number number = number_in(option); number.is && option.slot == slot)
      text += fmt::format("{}{} is {}", text.empty() ? "" : ", ", option.dotted(), number.text);
  return text;
}

}  // namespace

void check_options(const RecipeView& recipe) {
  for (const Option& option : recipe.options) check_range(option);
  for (const auto& combination : recipe.combinations)
    if (const Contradiction found = combination.contradiction())
      throw ArgumentError(fmt::format("Sinter: in {}, {}: {}. To mend it: {}.", combination.slot,
                                      found.what, numbers_of(recipe, combination.slot), found.fix));
}

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
#include "cli/flags_and_recipe.hpp"

#include <fmt/format.h>

namespace sinter::detail::cli {
namespace {

using Settings = SamplingSettings;

/// Leaves settings of a recipe out.
class LeavesOut {
 public:
  LeavesOut(Settings& recipe, std::vector<std::string>& notes) : recipe_(recipe), notes_(notes) {}

  template <class T>
  void operator()(std::string_view name, Said<T> Settings::* setting, std::string_view why) const {
    if (!(recipe_.*setting)) return;
    recipe_.*setting = {};
    notes_.push_back(fmt::format("{} of the recipe has no effect: {}.", name, why));
  }

 private:
  Settings& recipe_;
  std::vector<std::string>& notes_;
};

void leave_out_draws(const Settings& flags, const Settings& recipe, const LeavesOut& leave_out) {
  if (flags.temperature == 0.) {
    constexpr std::string_view why = "--temperature 0 takes the likeliest token";
    leave_out("top_k", &Settings::top_k, why);
    leave_out("top_p", &Settings::top_p, why);
    leave_out("min_p", &Settings::min_p, why);
    leave_out("typical_p", &Settings::typical_p, why);
  } else if (recipe.temperature == 0. && flags.narrow_draws()) {
    leave_out("temperature", &Settings::temperature, "a flag says how to draw");
  }
}

void leave_out_beams(const Settings& flags, const LeavesOut& leave_out) {
  if (flags.beams == 1) {
    constexpr std::string_view why = "--beams 1 searches none";
    leave_out("early_stopping", &Settings::early_stopping, why);
    leave_out("length_penalty", &Settings::length_penalty, why);
    leave_out("length_exponent", &Settings::length_exponent, why);
  }
  if (flags.length_penalty == LengthPenalty::none)
    leave_out("length_exponent", &Settings::length_exponent, "--length-penalty-by is none");
}

}  // namespace

FlagsAndRecipe::FlagsAndRecipe(const Settings& of_flags, const Settings& of_recipe,
                               std::vector<std::string>& notes)
    : flags(of_flags), recipe(of_recipe) {
  const LeavesOut leave_out(recipe, notes);
  leave_out_draws(flags, recipe, leave_out);
  leave_out_beams(flags, leave_out);
  all = flags.over(recipe);
  const int beams = all.beams.value_or(1);
  const bool equal = beams == 1 && all.temperature == 0.;
  if (!flags.results && all.results.value_or(1) > beams && (equal || beams > 1)) {
    leave_out("results", &Settings::results, "flags leave fewer texts");
    all.results = {};
  }
}

}  // namespace sinter::detail::cli

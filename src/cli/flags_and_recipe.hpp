// SPDX-License-Identifier: Apache-2.0
// What flags and recipe say of choosing tokens, before the model's file and Sinter's defaults do.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sinter/batch/sampling_settings.hpp"

namespace sinter::detail::cli {

/// Settings of flags, and below them those of a recipe.
struct FlagsAndRecipe {
  SamplingSettings flags;
  SamplingSettings recipe;  // without what has no effect beside the flags
  SamplingSettings all;     // of both

  /// Adds a note for each setting of the recipe that has no effect.
  FlagsAndRecipe(const SamplingSettings& of_flags, const SamplingSettings& of_recipe,
                 std::vector<std::string>& notes);

  /// Who says a setting: "flag", "recipe", or "" for neither.
  template <class T>
  std::string_view by(Said<T> SamplingSettings::* setting) const {
    return flags.*setting ? "flag" : recipe.*setting ? "recipe" : "";
  }
};

}  // namespace sinter::detail::cli

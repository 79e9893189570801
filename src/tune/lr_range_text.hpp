// SPDX-License-Identifier: Apache-2.0
// A learning-rate range test in words, as a table, as JSON and as a picture.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tune/lr_range.hpp"

namespace sinter::detail::tune {

/// A test, and what it is of.
struct LrTest {
  std::string recipe;
  NumberRange rates;  ///< of optimizer.lr
  /// The recipe's own rates by option, optimizer.lr first. All rise by the same factors.
  std::vector<std::pair<std::string, double>> own;
  LrRange range;
  /// The options at the step that it suggests.
  /// requires  range.steepest
  std::vector<std::pair<std::string, double>> suggested() const;
};

/// About twenty of the steps, why the run has ended, and the suggestion as flags, or why there is none.
std::string lr_text(const LrTest& test);
/// All steps for programs.
nlohmann::ordered_json lr_json(const LrTest& test);
/// The losses and their averages by the rate's logarithm, with the suggestion, as an SVG file.
/// requires  a step
std::string lr_svg(const LrTest& test);

}  // namespace sinter::detail::tune

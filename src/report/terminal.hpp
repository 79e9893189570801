// SPDX-License-Identifier: Apache-2.0
// A curve for a terminal.
#pragma once
#include <optional>
#include <span>
#include <string>

#include "report/chart.hpp"

namespace sinter::detail::report {

/// The abilities of a terminal.
enum class Letters { braille, ascii };

/// The letters of the locale that the environment names.
Letters letters_of_locale();

/// A curve of 60 columns and 12 lines with the numbers at its corners. Each column reaches from the
/// lowest to the highest value of its steps. Values beyond `axis`, if it is given, lie at its ends.
/// requires  there is a point
std::string curve_text(std::span<const Point> points, Letters letters,
                       std::optional<Limits> axis = {});

}  // namespace sinter::detail::report

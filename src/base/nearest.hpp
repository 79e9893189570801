// SPDX-License-Identifier: Apache-2.0
// Guesses what was meant by a name that is not there.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace sinter::detail {

/// The fewest edits that make one word of the other: a letter inserted, removed or replaced, or two
/// neighbours swapped (the optimal string alignment distance).
int edits(std::string_view a, std::string_view b);

/// The candidate that a mistyped word most likely means: one that begins with it, else the one that
/// is the fewest edits away; the first among equals.
/// requires  there is a candidate
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace sinter::detail

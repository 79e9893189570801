// SPDX-License-Identifier: Apache-2.0
// A row of a grid as C++.
#pragma once
#include <string>

#include "tune/row.hpp"

namespace sinter::detail::tune {

/// The lines that give the recipe the row's policies, for people to paste into its file.
std::string lines_to_paste(const std::string& recipe, const Row& row);

/// The file of a recipe whose main() runs the row: a struct with the row's policies stands before
/// main(). Without changes it is the same text.
/// throws    Error if the text has no line that begins with `int main(`, or names no recipe in run<…>
std::string tuned_file(const std::string& text, const Row& row);

}  // namespace sinter::detail::tune

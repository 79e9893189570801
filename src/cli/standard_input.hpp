// SPDX-License-Identifier: Apache-2.0
// Data from standard input, for `--data -`.
#pragma once
#include <string>
#include <vector>

#include "cli/arguments.hpp"

namespace sinter::detail::cli {

/// The paths to read data from. Standard input is read whole, once in a process, into a file in memory;
/// a note says so, unless a.quiet.
/// throws    UsageError if "-" does not stand alone, if standard input is a terminal, or if there are
///           several processes; FileError if it is empty, or larger than the available memory
std::vector<std::string> data_paths(const Arguments& a);

}  // namespace sinter::detail::cli

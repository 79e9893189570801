// SPDX-License-Identifier: Apache-2.0
// Finds the program that ranks run, before any of them is started.
#pragma once
#include <string>

namespace sinter::detail::launch {

/// The path of a program: of a name without '/' the first in the folders of PATH that can be
/// executed, as execvp(3) has it.
/// throws    Error if there is none, or it cannot be executed
std::string find_program(const std::string& name);

}  // namespace sinter::detail::launch

// SPDX-License-Identifier: Apache-2.0
// The Python whose packages some tests compare with.
#pragma once
#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace sinter::detail::testing {

/// The Python that SINTER_PYTHON names, if it can import these modules, such as "torch,
/// transformers"; else nothing, and a message says that the test was skipped.
inline std::optional<std::string> python_with(const std::string& modules) {
  const char* python = std::getenv("SINTER_PYTHON");
  if (python && *python) {
    const std::string asked = "'" + std::string(python) + "' -c 'import " + modules + "'";
    if (std::system((asked + " > /dev/null 2>&1").c_str()) == 0) return python;
  }
  MESSAGE("skipped: SINTER_PYTHON names no Python that can import ", modules);
  return std::nullopt;
}

}  // namespace sinter::detail::testing

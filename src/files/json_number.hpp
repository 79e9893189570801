// SPDX-License-Identifier: Apache-2.0
// Numbers as JSON for files and standard output.
#pragma once
#include <cmath>
#include <nlohmann/json.hpp>

namespace sinter::detail {

/// A number; null where it is not finite, as JSON has no word for that.
inline nlohmann::ordered_json finite_or_null(double value) {
  if (std::isfinite(value)) return value;
  return nullptr;
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Independent rows from the program's own arrays. Every row is a sequence of its own. This is the
/// default of a recipe that names no data.
struct Rows {
  using slot = slot::data;
  static constexpr int context = 1, vocabulary = 0;
};

}  // namespace sinter

#pragma once
#include "sinter/recipe/concepts.hpp"

namespace sinter {

/// Rows that have nothing to do with each other, from the program's own arrays: every row is a
/// sequence of its own. The default where a recipe names no data.
struct Rows {
  using slot = slot::data;
  static constexpr int context = 1, vocabulary = 0;
};

}  // namespace sinter

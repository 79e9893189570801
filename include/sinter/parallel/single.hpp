#pragma once
#include "sinter/recipe/concepts.hpp"

namespace sinter {

/// One rank. The default.
struct Single {
  using slot = slot::parallel;
  struct Options {};
  static constexpr Options options{};
  static constexpr bool reduces = false;
  static constexpr int ranks(const Options&) { return 1; }
};

}  // namespace sinter

#pragma once
#include "sinter/recipe/concepts.hpp"

namespace sinter {

/// The optimizer's learning rate at every step.
struct Constant {
  using slot = slot::schedule;
  struct Options {};
  static constexpr Options options{};
  static constexpr double factor(const Options&, std::int64_t) { return 1; }
};

}  // namespace sinter

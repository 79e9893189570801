// SPDX-License-Identifier: Apache-2.0
// This folder holds the slot `schedule`: the factor by which the optimizer's learning rate is
// multiplied in each step, counted from 1.
#pragma once
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// The learning rate is the optimizer's own at every step.
struct Constant {
  using slot = slot::schedule;
  struct Options {};
  static constexpr Options options{};
  static constexpr double factor(const Options&, std::int64_t) { return 1; }
};

}  // namespace sinter

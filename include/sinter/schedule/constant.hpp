// SPDX-License-Identifier: Apache-2.0
// The slot `schedule`: the factor of the optimizer's learning rate in each step, counted from 1.
#pragma once
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// A constant schedule: every step has the optimizer's own learning rate.
struct Constant {
  using slot = slot::schedule;
  struct Options {};
  static constexpr Options options{};
  static constexpr double factor(const Options&, std::int64_t) { return 1; }
};

}  // namespace sinter

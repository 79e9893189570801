// SPDX-License-Identifier: Apache-2.0
// The slot `parallel`: how ranks share the work of a step. Communication between ranks is in comm/.
#pragma once
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// One rank does all the work. This is the default.
struct Single {
  using slot = slot::parallel;
  struct Options {};
  static constexpr Options options{};
  static constexpr bool reduces = false;
  static constexpr int ranks(const Options&) { return 1; }
};

}  // namespace sinter

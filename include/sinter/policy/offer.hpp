// SPDX-License-Identifier: Apache-2.0
// How a policy that saves memory is offered to recipes that do without it.
#pragma once
#include <string_view>

namespace sinter {

/// What `describe` says of a policy that would save memory.
struct Offer {
  /// What a recipe's author would write, with more words where they help.
  std::string_view words;
  /// Where memory is short, what costs less is to be tried first. Below 100 the cost is about how
  /// many per cent longer a step takes; from 100 on, what is learnt changes, too. What costs 0 is
  /// listed with what it saves, but not among what to try.
  int cost = 0;
};

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// How `describe` suggests a policy that saves memory to recipes without it.
#pragma once
#include <string_view>

namespace sinter {

/// How `describe` suggests a policy that would save memory.
struct Offer {
  /// What a recipe's author would write, with more words where they help.
  std::string_view words;
  /// Policies that cost less are suggested first. A cost below 100 is about the percentage by which
  /// a step becomes slower; from 100 on, the result of training changes, too. A policy of cost 0 is
  /// listed with what it saves, but is not suggested.
  int cost = 0;
};

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// What a recipe would need if it were another: the same planner, asked again when the binary runs.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "sinter/plan/plan_view.hpp"
#include "sinter/recipe/alternatives.hpp"

namespace sinter {

/// What one technique would make of a plan.
struct Saving {
  std::string technique;   ///< in the words in which it is offered
  std::int64_t total = 0;  ///< bytes of the arena with it
  int cost = 0;            ///< see Offer
};

/// What each technique alone would make of a plan: smaller micro-batches, then the alternatives in
/// their order. Techniques that save nothing are left out.
/// requires  the alternatives are alternatives_of<R>() for the recipe R of the plan
std::vector<Saving> savings(const PlanView& plan, std::span<const Alternative> alternatives);

}  // namespace sinter

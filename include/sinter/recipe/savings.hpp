// SPDX-License-Identifier: Apache-2.0
// The memory that variants of a recipe would need, from the same planner, when the binary runs.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "sinter/plan/plan_view.hpp"
#include "sinter/recipe/alternatives.hpp"

namespace sinter::detail {

/// The memory of a plan with one technique.
struct Saving {
  std::string technique;   ///< in the words that `describe` prints
  std::int64_t total = 0;  ///< bytes of the arena with the technique
  int cost = 0;            ///< see Offer
};

/// Plans each technique by itself: smaller micro-batches, then the alternatives in their order.
/// Leaves out techniques that save nothing.
/// requires  the alternatives are alternatives_of<R>() for the recipe R of the plan
std::vector<Saving> savings(const PlanView& plan, std::span<const Alternative> alternatives);

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Memory during a step: how much each instruction needs, and which unit of the model needs it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "report/chart.hpp"
#include "sinter/plan/plan_view.hpp"

namespace sinter::detail::report {

/// What a unit of the model takes.
struct UnitUse {
  std::string name;
  std::int64_t parameters = 0;  ///< their number
  std::int64_t temporary = 0;   ///< bytes in the arena at the step's fullest instruction
};

struct ArenaUse {
  std::vector<Point> mebibytes;    ///< of the arena that an instruction needs, by its place
  std::vector<Name> instructions;  ///< all of the program
  std::vector<UnitUse> units;      ///< of the model, in its order
  std::string fullest;             ///< the instruction that needs the most
};

/// The use of the arena by the training step.
ArenaUse arena_use(const PlanView& plan);

}  // namespace sinter::detail::report

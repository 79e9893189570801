// SPDX-License-Identifier: Apache-2.0
// The prediction of a model that takes the last row of each sequence, for every row of them.
#pragma once
#include <memory>

#include "run/binder.hpp"
#include "sinter/plan/evaluation.hpp"

namespace sinter::detail {

/// The program of a prediction, placed anew when a binary first asks for it, so that no recipe pays
/// for it when it compiles and no arena is larger for it. The units before the last one run once.
/// The last one, in which rows are taken, runs for a part of the rows after the other: what it sees
/// are sequences that end with these.
class RowPrediction {
 public:
  /// Plans as many rows at once as fit into the arena.
  /// requires  plan is good as long as this is
  /// throws    ArgumentError if rows are taken elsewhere than in the last unit, or otherwise than by
  ///           taking the last one
  RowPrediction(const PlanView& plan, std::byte* arena, const Now& now);

  BoundProgram program;
  int tail = 0;     ///< the position of the first instruction that runs for each part
  int at_once = 0;  ///< the most rows of a part
  int axis = 0;     ///< of the rows

  /// The rows of the micro-batch at hand that a part has.
  struct Part {
    int first, rows;
  };
  /// What layers are told of a part: each of its rows is the last of a sequence.
  void show(Part part, Now& now) const;

 private:
  void place_within(std::int64_t bytes);

  Model model_;
  std::unique_ptr<detail::EvaluationUnits> units_;
  std::vector<Instruction> instructions_;
  Placement placement_;
  std::vector<std::int32_t> places_;  // 0, 1, 2 …
  DeviceMemory places_memory_;        // the same, where kernels cannot read the host's
  const std::int32_t* shown_;
};

}  // namespace sinter::detail

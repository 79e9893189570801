// SPDX-License-Identifier: Apache-2.0
// The prediction of a model that takes the last row of each sequence, for every row of them.
#pragma once
#include <memory>

#include "run/binder.hpp"
#include "sinter/plan/evaluation.hpp"

namespace sinter::detail {

/// The program of a prediction for every row. It is placed when a binary first asks for it, so that it
/// costs no compile time and no space in the arena. The units before the last one run once. The last
/// one, which takes rows, runs for one part of the rows after the other, as if they ended sequences.
class RowPrediction {
 public:
  /// Plans as many rows at once as fit into the arena.
  /// requires  plan outlives it
  /// throws    ArgumentError unless the last unit, and no other, takes rows, and only last ones
  RowPrediction(const PlanView& plan, std::byte* arena, const Now& now);

  BoundProgram program;
  int tail = 0;     ///< the position of the first instruction that runs for each part
  int at_once = 0;  ///< maximum rows of a part
  int axis = 0;     ///< of the rows

  /// A part's rows of the current micro-batch.
  struct Part {
    int first, rows;
  };
  /// Tells layers that each row of a part is the last of a sequence.
  void show(Part part, Now& now) const;

 private:
  void place_within(std::int64_t bytes);

  Model model_;
  std::unique_ptr<detail::EvaluationUnits> units_;
  std::vector<Instruction> instructions_;
  Placement placement_;
  std::vector<std::int32_t> places_;  // 0, 1, 2 …
  DeviceMemory places_memory_;        // the same, for kernels that cannot read the host's memory
  const std::int32_t* shown_;
};

}  // namespace sinter::detail

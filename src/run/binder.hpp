// From a program to calls with addresses: done once, not at every step.
#pragma once
#include "sinter/plan/plan_view.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {

/// A program ready to run: instructions [0, body) once, [body, after) for each micro-batch, the
/// rest once.
struct BoundProgram {
  const Model* model = nullptr;
  std::vector<Bound> instructions;
  std::vector<BoundCall> calls;
  int body = 0, after = 0;
  int micro = 1;                    // sequences of a micro-batch
  int row_multiple = 1;             // to which its rows are padded
  std::vector<std::byte*> inputs;   // of Model::externals
  std::vector<std::byte*> results;  // of Model::results
  std::vector<Slot*> changing;      // of calls: their shapes are not the same in all micro-batches
  std::array<int, axes> updated_rows{};  // those that the slots have now
  bool updated_first = true;

  /// Gives the slots of all calls the shapes that they have in the micro-batch at hand.
  void update(const Now& now);
};

/// requires  the program is verified; arena is as large as the placement's peak
/// ensures   what `now` says holds for all calls
BoundProgram bind(const Model& model, const Placement& placement, std::byte* arena, const Now& now);

/// Where a persistent space begins in the arena, or nullptr.
std::byte* flat_address(const Placement& placement, std::byte* arena, Space space);

}  // namespace sinter

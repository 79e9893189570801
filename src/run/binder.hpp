// SPDX-License-Identifier: Apache-2.0
// From a program to calls with addresses, once and not at every step.
#pragma once
#include "run/arena_guard.hpp"
#include "sinter/plan/plan_view.hpp"
#include "sinter/program/walk.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::detail {

/// What becomes of an instruction in a micro-batch that has no sequences.
struct WhenEmpty {
  /// It is passed over, as it works on nothing but what follows from the micro-batch, and says nothing to
  /// other ranks.
  bool passed_over = false;
  /// Gradients of parameters to which it would give the first contribution, and which are zeros then.
  struct Gradient {
    std::byte* at;
    std::int64_t bytes;
  };
  std::vector<Gradient> first, later;  ///< in the first micro-batch, and in others
};

/// A program ready to run.
struct BoundProgram {
  const Model* model = nullptr;
  std::span<const Instruction> program;
  LoopBounds loop;                    // its last instruction is the one before `end`
  int if_applied = 0;                 // the first that a step that is not applied passes over
  std::vector<Bound> instructions;    // one for each of the program's
  std::vector<WhenEmpty> when_empty;  // likewise
  std::vector<std::vector<std::byte*>> buffers;  // likewise: Bound::at
  std::vector<BoundCall> calls;
  std::vector<std::unique_ptr<LayerObject>> objects;  // that the calls point to
  int micro = 1;                                      // sequences of a micro-batch
  int row_multiple = 1;                  // rows of a micro-batch are padded to a multiple of this
  std::vector<std::byte*> inputs;        // of Model::externals
  std::vector<std::byte*> results;       // of Model::results
  std::vector<BoundOperand*> changing;   // of calls; their shapes differ between micro-batches
  std::array<int, axes> updated_rows{};  // rows that `changing` has now, by axis
  bool updated_first = true;             // and whether as in the first micro-batch
  bool speaks = false;  // with other ranks, also in a micro-batch without sequences
  ArenaGuard guard;     // under AddressSanitizer

  /// Gives the operands of all calls the shapes that they have in the micro-batch at hand.
  void update(const Now& now);
};

/// Gives a program addresses.
/// requires  the program is verified; arena is as large as the placement's peak; model and `now`
///           outlive the result
/// ensures   all calls see what `now` says when they run
[[nodiscard]] BoundProgram bind(const Model& model, const PlacementView& placement,
                                std::byte* arena, const Now& now);

/// The first instruction that says that it changes what a checkpoint holds: master weights, running
/// values that are kept, state of policies. The end of the program if there is none. Before it, work
/// on the device waits for background copies.
int first_change(const Model& model, std::span<const Instruction> program);

/// Where a persistent space begins in the arena; nullptr if the placement does not have it.
std::byte* flat_address(const PlacementView& placement, std::byte* arena, Space space);

}  // namespace sinter::detail

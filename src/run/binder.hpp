// SPDX-License-Identifier: Apache-2.0
// Turns a program into calls with addresses, once for all steps.
#pragma once
#include "run/arena_guard.hpp"
#include "sinter/plan/plan_view.hpp"
#include "sinter/program/walk.hpp"
#include "sinter/run/machine.hpp"

namespace sinter::detail {

/// How an instruction runs in a micro-batch without sequences.
struct WhenEmpty {
  /// True if it is skipped: it uses values of the micro-batch, and does not communicate.
  bool skipped = false;
  /// Gradients to which it would make the first contribution. They are set to zero instead.
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
  int if_applied = 0;                 // the first that is skipped if a step is not applied
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
  bool communicates = false;  // with other ranks, also in a micro-batch without sequences
  ArenaGuard guard;           // under AddressSanitizer

  /// Sets the shapes of all calls' operands for the current micro-batch.
  void update(const Now& now);
};

/// Binds a program to addresses in an arena.
/// requires  the program is verified; arena is as large as the placement's peak; model and `now`
///           outlive the result
/// ensures   calls read `now` when they run
[[nodiscard]] BoundProgram bind(const Model& model, const PlacementView& placement,
                                std::byte* arena, const Now& now);

/// The position of the first instruction that changes what a checkpoint holds: master weights, kept
/// running values or policies' state. The end of the program if there is none. It runs after
/// background copies.
int first_change(const Model& model, std::span<const Instruction> program);

/// Where a persistent space begins in the arena; nullptr if the placement does not have it.
std::byte* flat_address(const PlacementView& placement, std::byte* arena, Space space);

}  // namespace sinter::detail

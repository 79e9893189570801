// A plan without its recipe's type.
#pragma once
#include "sinter/kernels/stream.hpp"
#include "sinter/plan/placement.hpp"
#include "sinter/plan/unit_planner.hpp"

namespace sinter {

/// A program with its buffers, frozen.
struct PlacementView {
  std::span<const Instruction> program;
  std::span<const Buffer> buffers;
  std::int64_t persistent = 0, workspace = 0, peak = 0;
  constexpr std::int64_t transient() const { return peak - persistent - workspace; }
};

/// What lies where, in bytes. activations and workspace: room for the largest of the programs.
struct Memory {
  std::int64_t parameters = 0, weights = 0, gradients = 0, optimizer = 0, policies = 0;
  std::int64_t activations = 0, workspace = 0, total = 0;
};

/// A recipe's plan with its type erased: all that the library needs to run it.
struct PlanView {
  Model model, evaluating, predicting;
  PlacementView training, evaluation, prediction;
  Memory memory;
  std::int64_t parameters = 0, flops_per_token = 0;
  /// micro: sequences computed at once; evaluation_micro: in evaluation, as many as the same arena
  /// holds.
  int micro = 0, evaluation_micro = 0, context = 0, vocabulary = 0;
  /// To which the rows of training's and evaluation's micro-batches are padded.
  int row_multiple = 1;
  RecomputedInside recomputed{};
  kernel::MatmulInputs matmul_inputs = kernel::MatmulInputs::whole;  // of layers
  const void* optimizer = nullptr;                                   // owner of its regions
};

}  // namespace sinter

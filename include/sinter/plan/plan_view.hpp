// SPDX-License-Identifier: Apache-2.0
// A plan without the type of its recipe.
#pragma once
#include "sinter/hardware/stream.hpp"
#include "sinter/plan/placement.hpp"
#include "sinter/plan/unit_planner.hpp"

namespace sinter::detail {

/// A program with its placement, frozen.
struct PlacementView {
  std::span<const Instruction> program;                  ///< its instructions
  std::span<const Buffer> buffers;                       ///< where its buffers lie
  std::int64_t persistent = 0, workspace = 0, peak = 0;  ///< see Placement
  /// Bytes of the temporary buffers.
  constexpr std::int64_t transient() const { return peak - persistent - workspace; }
};

/// The bytes of the arena by purpose.
struct Memory {
  std::int64_t parameters = 0;   ///< master weights, and what is not trained
  std::int64_t weights = 0;      ///< the copy that layers read, if it lives through all steps
  std::int64_t gradients = 0;    ///< gradients of all parameters
  std::int64_t running = 0;      ///< running values of a step; the kept ones count as parameters
  std::int64_t optimizer = 0;    ///< state of the optimizer
  std::int64_t cache = 0;        ///< what layers keep of earlier rows of texts
  std::int64_t policies = 0;     ///< state of all other policies
  std::int64_t activations = 0;  ///< everything else, in the largest of the programs
  std::int64_t workspace = 0;    ///< workspace of training, and measurements of a step
  std::int64_t total = 0;        ///< all bytes of the arena
  std::int64_t offloaded =
      0;  ///< bytes outside of the arena (Model::is_offloaded), in no sum above

  /// Bytes that a checkpoint holds, and so a copy of it in memory.
  constexpr std::int64_t saved() const { return parameters + optimizer + policies + offloaded; }
};

/// Splits the `total` bytes of an arena by purpose, with the program of training placed in it.
/// optimizer: the owner of the optimizer's regions.
constexpr Memory memory_of(const Model& model, const PlacementView& training, std::int64_t total,
                           const void* optimizer) {
  Memory m;
  std::int64_t named = 0;
  for (const Buffer& b : training.buffers) {
    if (b.opened_by >= 0 || b.space == Space::workspace || b.space == Space::decision) continue;
    named += b.bytes;
    if (b.space == Space::master || b.space == Space::frozen) m.parameters += b.bytes;
    if (b.space == Space::weights) m.weights += b.bytes;
    if (b.space == Space::gradient) m.gradients += b.bytes;
    if (b.space == Space::running) m.running += b.bytes;
    if (b.space == Space::cache) m.cache += b.bytes;
    if (b.space < Space::region) continue;
    const void* owner = model.region_of(b.space).owner;
    (owner == optimizer ? m.optimizer : m.policies) += b.bytes;
  }
  each_offloaded(model, [&](Space space) { m.offloaded += offloaded_bytes(model, space); });
  m.total = total;
  m.workspace = training.persistent + training.workspace - named;
  m.activations = m.total - training.persistent - training.workspace;
  return m;
}

/// A function that rewrites a program of evaluation or prediction by the policies of a recipe.
using ForwardProgram = Program (*)(const Model&, const Program&);

/// A recipe's plan with its type erased: all that the library needs to run it.
struct PlanView {
  Model model, evaluating, predicting;  ///< models of training, evaluation and prediction
  Model predicting_rows;                ///< model of predictions at each position
  PlacementView training, evaluation, prediction;  ///< the programs, placed
  /// The model and the program that add one row to each of several texts, of a plan that continues
  /// texts; its `prediction` reads parts of one or more. Other plans have no instruction here.
  Model decoding{};
  PlacementView decode{};
  int max_texts = 0;      ///< the most texts, or hypotheses of them, that are continued at once
  int prefill_texts = 0;  ///< the most texts of which `prediction` then reads a part at once
  int prefill_rows = 0;   ///< the most rows of them together
  int prefill_other_rows = 0;        ///< the most rows that their encoder reads
  Memory memory;                     ///< bytes by what they are for
  std::int64_t parameters = 0;       ///< elements of all parameters, without padding
  std::int64_t flops_per_token = 0;  ///< see training_flops()
  int micro = 0;                     ///< sequences computed at once in training and prediction
  int evaluation_micro = 0;          ///< sequences that fit at once in evaluation
  int context = 0;                   ///< maximum rows of a sequence
  int second_context = 0;            ///< maximum rows of a sequence on axis 1
  int vocabulary = 0;                ///< ids are in [0, vocabulary); 0 without ids
  /// Rows of a micro-batch of training or evaluation are padded to a multiple of this.
  int row_multiple = 1;
  RecomputedInside recomputed{};  ///< what backward recomputes inside units
  /// What matmuls of layers do to their fp32 inputs.
  kernel::MatmulInputs matmul_inputs = kernel::MatmulInputs::whole;
  const void* optimizer = nullptr;           ///< owner of the optimizer's regions, see tag_of
  ForwardProgram forward_program = nullptr;  ///< rewrites by the policies of this recipe
};

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// What a training step computes for one token.
#pragma once
#include <algorithm>

#include "sinter/program/model.hpp"

namespace sinter::detail {

/// The gradients that a node's backward computes, each about as costly as its forward.
struct BackwardPasses {
  int parameters;  ///< 1 if there are gradients of its parameters
  int operands;    ///< 1 for those of its operands, or 2 in a layer without parameters
};
/// Operations of a layer's backward, if its forward has `flops`.
constexpr std::int64_t backward_flops(const Layer& layer, BackwardPasses passes,
                                      std::int64_t flops) {
  return (passes.parameters + passes.operands) * flops - passes.parameters * layer.untrained_flops;
}
/// The gradients of a node that are needed.
constexpr BackwardPasses backward_passes(const Model& model, const Unit& unit, const Node& node) {
  if (!unit.backward) return {0, 0};
  const Block& block = model.blocks[unit.block];
  const bool parameters = node.layer->param_count > 0;
  const bool frozen = node.tied ? model.units[unit.tied].frozen : unit.frozen;
  const bool adapts = std::ranges::any_of(node.layer->params, &Param::is_adapter);
  const bool trains = parameters && !frozen && (!node.frozen || adapts);
  bool operands = false;  // true if an operand needs a gradient
  for (int i = 0; i < node.layer->inputs; ++i) {
    const int local = node.in[i];
    const bool enters = local < block.inputs;
    const bool ids = node.layer->in[i] == 0;
    operands |= !ids && (!enters || (unit.in[local] >= 0 && model.has_gradient(unit.in[local])));
  }
  return {trains, operands ? (parameters ? 1 : 2) : 0};
}

/// FLOP for one token of axis 0, in full sequences of `context` tokens on axis 0 and
/// `second_context` on axis 1. Each layer states its forward cost; backward_passes() gives that of
/// its backward. Unneeded gradients and backwards do not count: those of frozen parameters, of the
/// model's inputs, and of units without trained parameters before them. Recomputation does not
/// count either.
///
/// A layer counts for each row of its results' axis: on axis 1 second_context / context times, and
/// once in `context` tokens if its results have one row for each sequence.
constexpr std::int64_t training_flops(const Model& model, int context, int second_context) {
  const std::array<int, axes> contexts{context, second_context, context, context};
  std::array<std::int64_t, axes> sums{};  // for one row of each axis
  for (const Unit& unit : model.units) {
    const Block& block = model.blocks[unit.block];
    for (const Node& node : model.nodes.subspan(block.first_node, block.nodes)) {
      const BackwardPasses passes = backward_passes(model, unit, node);
      auto axis = [&](int local) { return model.locals[block.first_local + local].axis; };
      const int second = axis(node.in[node.layer->inputs > 1]);
      const std::int64_t flops = node.layer->flops(contexts[axis(node.out)], contexts[second]);
      sums[axis(node.out)] += flops + backward_flops(*node.layer, passes, flops);
    }
  }
  return sums[0] + (sums[1] * second_context + sums[pooled(0)] + sums[pooled(1)]) / context;
}

}  // namespace sinter::detail

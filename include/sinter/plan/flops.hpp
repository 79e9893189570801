// SPDX-License-Identifier: Apache-2.0
// What a training step computes for one token.
#pragma once
#include "sinter/program/model.hpp"

namespace sinter::detail {

/// Cost of a node's backward, in units of its forward: 1 for the gradients of its parameters and 1
/// for those of its operands, or 2 for operands of a layer without parameters. Unneeded gradients
/// do not count.
constexpr int backward_passes(const Model& model, const Unit& unit, const Node& node) {
  if (!unit.backward) return 0;
  const Block& block = model.blocks[unit.block];
  const bool parameters = node.layer->param_count > 0;
  const bool frozen = node.tied ? model.units[unit.tied].frozen : unit.frozen;
  bool operands = false;  // true if an operand needs a gradient
  for (int i = 0; i < node.layer->inputs; ++i) {
    const int local = node.in[i];
    const bool enters = local < block.inputs;
    const bool ids = node.layer->in[i] == 0;
    operands |= !ids && (!enters || (unit.in[local] >= 0 && model.has_gradient(unit.in[local])));
  }
  return (parameters && !frozen) + (operands ? (parameters ? 1 : 2) : 0);
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
      const int passes = 1 + backward_passes(model, unit, node);
      auto axis = [&](int local) { return model.locals[block.first_local + local].axis; };
      const int second = axis(node.in[node.layer->inputs > 1]);
      sums[axis(node.out)] +=
          passes * node.layer->flops(contexts[axis(node.out)], contexts[second]);
    }
  }
  return sums[0] + (sums[1] * second_context + sums[pooled(0)] + sums[pooled(1)]) / context;
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// What a training step computes for one token.
#pragma once
#include "sinter/program/model.hpp"

namespace sinter {

/// How often backward of a node computes as much as its forward: for the gradient of its parameters, and
/// for those of its operands (of a layer without parameters, twice). What nobody needs is not counted.
constexpr int backward_passes(const Model& model, const Unit& unit, const Node& node) {
  if (!unit.backward) return 0;
  const Block& block = model.blocks[unit.block];
  const bool parameters = node.layer->param_count > 0;
  const bool frozen = node.tied ? model.units[unit.tied].frozen : unit.frozen;
  bool operands = false;  // whether a gradient of one is needed
  for (int i = 0; i < node.layer->inputs; ++i) {
    const int local = node.in[i];
    const bool enters = local < block.inputs;
    const bool ids = node.layer->in[i] == 0;
    operands |= !ids && (!enters || (unit.in[local] >= 0 && model.has_gradient(unit.in[local])));
  }
  return (parameters && !frozen) + (operands ? (parameters ? 1 : 2) : 0);
}

/// Operations for one token of axis 0, in full sequences of `context` tokens there and of
/// `second_context` on axis 1, as the layers say of forward: each of them forward, and in backward
/// as much again for the gradient of its parameters, and as much for those of its operands. (A
/// layer without parameters takes both for its operands, as attention does.) What nobody needs is
/// not counted: gradients of frozen parameters, gradients of what the model reads, and backward of
/// units that nothing trained feeds. Nor is recomputation.
///
/// A layer counts for each row of the axis that its results are on: on axis 1 second_context /
/// context times, and once in `context` tokens where results have one row for each sequence.
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

}  // namespace sinter

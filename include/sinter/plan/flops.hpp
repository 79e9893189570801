// SPDX-License-Identifier: Apache-2.0
// What a training step computes for one token.
#pragma once
#include "sinter/program/model.hpp"

namespace sinter {

/// Operations for one token in a full sequence of `context` tokens, as the layers say of forward:
/// each of them forward, and in backward as much again for the gradient of its parameters, and as
/// much for those of its operands. (A layer without parameters takes both for its operands, as
/// attention does.) What nobody needs is not counted: gradients of frozen parameters, gradients of
/// what the model reads, and backward of units that nothing trained feeds. Nor is recomputation.
constexpr std::int64_t training_flops(const Model& model, int context) {
  std::int64_t sum = 0;
  for (const Unit& unit : model.units) {
    const Block& block = model.blocks[unit.block];
    for (const Node& node : model.nodes.subspan(block.first_node, block.nodes)) {
      const bool parameters = node.layer->param_count > 0;
      const bool frozen = node.tied ? model.units[unit.tied].frozen : unit.frozen;
      bool operands = false;  // whether a gradient of one is needed
      for (int i = 0; i < node.layer->inputs; ++i) {
        const int local = node.in[i];
        const bool enters = local < block.inputs;
        const bool ids = node.layer->in[i] == 0;
        operands |=
            !ids && (!enters || (unit.in[local] >= 0 && model.has_gradient(unit.in[local])));
      }
      int passes = 1;
      if (unit.backward) passes += (parameters && !frozen) + (operands ? (parameters ? 1 : 2) : 0);
      sum += passes * node.layer->flops(context);
    }
  }
  return sum;
}

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// Whether a model leaves rows of padding out.
#pragma once
#include "sinter/program/model.hpp"

namespace sinter::detail {

/// True if a layer may mix rows of axis 1 with the padding behind them (HostBatch::second_lengths).
/// Such a layer sees rows that follow, pools, has an operand on another axis or computes outside of
/// Sinter, and does not state that it skips padding.
constexpr bool reads_padding(const Model& model) {
  for (const Block& block : model.blocks)
    for (const Node& node : model.nodes.subspan(block.first_node, block.nodes)) {
      const Layer& layer = *node.layer;
      bool is_on_axis = false, is_on_another = false;
      for (int k = 0; k < layer.inputs; ++k)
        (model.locals[block.first_local + node.in[k]].axis == 1 ? is_on_axis : is_on_another) =
            true;
      const bool mixes = layer.bidirectional || layer.pools || layer.unplanned || is_on_another;
      if (is_on_axis && mixes && !layer.skips_padding) return true;
    }
  return false;
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Which ids a model takes, and for what.
#pragma once
#include <algorithm>
#include <limits>

#include "sinter/program/model.hpp"

namespace sinter {

/// The ids of this external input must be below this, the size of the smallest table that looks
/// them up; of targets, the number of classes.
constexpr int id_limit(const Model& model, int external) {
  int limit = std::numeric_limits<int>::max();
  for (const Unit& unit : model.units) {
    const Block& block = model.blocks[unit.block];
    for (int k = 0; k < block.inputs; ++k) {
      if (unit.in[k] != -1 - external) continue;
      for (const Node& node : model.nodes.subspan(block.first_node, block.nodes))
        for (int i = 0; i < node.layer->inputs; ++i)
          if (node.in[i] == k && node.layer->ids_below)
            limit = std::min(limit, node.layer->ids_below);
    }
  }
  return limit;
}

/// Whether a model, as it predicts, is an encoder-decoder: it asks for ids on axis 1, which its
/// encoder reads, and then for ids on axis 0, those of its decoder.
constexpr bool is_encoder_decoder(const Model& predicting) {
  const auto inputs = predicting.externals;
  return inputs.size() == 2 && inputs[0].width == 0 && inputs[1].width == 0 &&
         inputs[0].axis == 1 && inputs[1].axis == 0;
}

}  // namespace sinter

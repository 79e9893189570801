// SPDX-License-Identifier: Apache-2.0
// The ids that a model takes: their bound, and whether an encoder and a decoder read them.
#pragma once
#include <algorithm>
#include <limits>

#include "sinter/program/model.hpp"

namespace sinter::detail {

/// The exclusive bound of the ids of an external input: the size of the smallest table that looks
/// them up, or, for targets, the number of classes. The largest int if there is no bound.
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

/// True if a model for prediction is an encoder-decoder: its inputs are ids on axis 1, which its
/// encoder reads, and then ids on axis 0, which its decoder reads.
constexpr bool is_encoder_decoder(const Model& predicting) {
  const auto inputs = predicting.externals;
  return inputs.size() == 2 && inputs[0].width == 0 && inputs[1].width == 0 &&
         inputs[0].axis == 1 && inputs[1].axis == 0;
}

/// True if a model for prediction has logits of at least `tokens` tokens for what follows each sequence.
constexpr bool writes_tokens(const Model& predicting, int tokens) {
  if (predicting.results.empty()) return false;
  const Local& local = predicting.local(predicting.results[0]);
  return local.axis == pooled(0) && local.width >= tokens;
}

}  // namespace sinter::detail

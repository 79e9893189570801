// SPDX-License-Identifier: Apache-2.0
// Which losses a model has: policies that act on cross-entropies of ids need one.
#pragma once
#include "sinter/program/model.hpp"

namespace sinter::detail {

/// The losses of a model.
struct Losses {
  int all = 0;                  ///< number of losses
  int cross_entropies = 0;      ///< how many are cross-entropies of ids (Layer::cross_entropy)
  int classes = 0;              ///< number of classes, or tokens, of the last of these
  int targets = 0;              ///< number of inputs that are targets
  bool targets_are_ids = true;  ///< false if a target is numbers

  /// True if a prediction is a target id, and the loss of each is one cross-entropy.
  constexpr bool is_one_cross_entropy() const {
    return all == 1 && cross_entropies == 1 && targets == 1 && targets_are_ids;
  }
};

/// Finds the losses of a model.
constexpr Losses losses_of(const Model& model) {
  Losses found;
  for (const Unit& unit : model.units) {
    const Block& block = model.blocks[unit.block];
    for (const Node& node : model.nodes.subspan(block.first_node, block.nodes)) {
      found.all += node.layer->loss;
      if (!node.layer->cross_entropy) continue;
      ++found.cross_entropies;
      found.classes = node.layer->ids_below;
    }
  }
  for (const External& input : model.externals) {
    found.targets += input.targets;
    if (input.targets && input.width > 0) found.targets_are_ids = false;
  }
  return found;
}

}  // namespace sinter::detail

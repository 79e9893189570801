// SPDX-License-Identifier: Apache-2.0
#include "sinter/plan/owners.hpp"

namespace sinter::detail {

SplitLayout::SplitLayout(const Model& model, int ranks, bool owners)
    : ranks_(ranks), offsets_(model.offsets.begin(), model.offsets.end()) {
  const int equal = owners ? 1 : ranks;
  for (const short unit : model.order) {
    ParameterOffsets& at = offsets_[std::size_t(unit)];
    at.decayed = decayed_;
    at.undecayed = undecayed_;
    decayed_ += whole_shards(model.block(unit).decayed, equal);
    undecayed_ += whole_shards(model.block(unit).undecayed, equal);
  }
  const std::int64_t moved = decayed_ + undecayed_ - model.elements();  // what lies behind all that
  std::vector<char> is_trained(offsets_.size(), false);
  for (const short unit : model.order) is_trained[std::size_t(unit)] = true;
  for (std::size_t u = 0; u < offsets_.size(); ++u) {
    ParameterOffsets& at = offsets_[u];
    at.running += moved;
    at.fixed += moved;
    if (is_trained[u]) {
      at.undecayed += decayed_;
    } else {
      at.decayed += moved;
      at.undecayed += moved;
    }
  }
  if (!owners) return;
  Model laid_out = model;
  laid_out.offsets = offsets_;
  owned_ = owned_slices(laid_out, ranks);
}

void SplitLayout::apply(Model& model) const {
  apply_sizes(model);
  model.offsets = offsets_;
}

void SplitLayout::apply_sizes(Model& model) const {
  model.shards = ranks_;
  model.decayed = decayed_;
  model.undecayed = undecayed_;
  model.owned = owned_;
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// The assignment of parameters to ranks, where an optimizer takes parameters whole and ranks share
// its work.
#pragma once
#include "sinter/program/regions.hpp"

namespace sinter::detail {

/// Returns the slices that one rank owns whole, in their order, still without owners: each matrix,
/// and the vectors of each unit together, which are small.
constexpr std::vector<OwnedSlice> ownable_slices(const Model& model) {
  std::vector<OwnedSlice> slices;
  slices.reserve(8 * model.order.size());
  for_each_parameter(model, [&](int unit, int n, int p) {
    const Node& node = model.nodes[std::size_t(n)];
    const Param& param = node.layer->params[p];
    if (param.decays)
      slices.push_back({{{model.place_of(unit, node, p), padded(param.stored())}, 0}, 0});
  });
  for (const short unit : model.order)
    if (const std::int64_t size = padded(model.block(unit).undecayed); size > 0)
      slices.push_back({{{model.offsets[std::size_t(unit)].undecayed, size}, 0}, 0});
  return slices;
}

/// The elements that a rank owns so far. A heap of Loads has at its front the rank with the fewest,
/// and among equals the first rank.
struct Load {
  std::int64_t elements;
  int rank;
  constexpr bool operator<(const Load& other) const {
    return elements > other.elements || (elements == other.elements && rank > other.rank);
  }
};

/// Assigns each matrix of a model, and the vectors of each unit, to one of `ranks` ranks: the
/// largest first, each to the rank with the fewest elements so far (Graham 1969). The maximum of a
/// rank is at most 4/3 of that in the best assignment. Between equal slices, and between ranks with
/// equal loads, the first one comes first.
/// requires  Model::offsets are those of trained parts that are not split into equal shards
constexpr std::vector<OwnedSlice> owned_slices(const Model& model, int ranks) {
  std::vector<OwnedSlice> slices = ownable_slices(model);
  std::vector<int> largest_first(slices.size(), 0);
  for (std::size_t k = 0; k < slices.size(); ++k) largest_first[k] = int(k);
  std::ranges::sort(largest_first, [&](int a, int b) {
    const std::int64_t one = slices[std::size_t(a)].size, other = slices[std::size_t(b)].size;
    return one > other || (one == other && a < b);
  });
  std::vector<Load> loads;
  for (int rank = 0; rank < ranks; ++rank) loads.push_back({0, rank});
  for (const int k : largest_first) {
    std::pop_heap(loads.begin(), loads.end());
    slices[std::size_t(k)].owner = loads.back().rank;
    loads.back().elements += slices[std::size_t(k)].size;
    std::push_heap(loads.begin(), loads.end());
  }
  std::vector<std::int64_t> ends(std::size_t(ranks), 0);
  for (OwnedSlice& slice : slices) {
    slice.local = ends[std::size_t(slice.owner)];
    ends[std::size_t(slice.owner)] += slice.size;
  }
  return slices;
}

/// The layout of parameters in a model that is split over another number of ranks, or in another
/// way, than the model that was planned when the recipe compiled.
class SplitLayout {
 public:
  /// owners: true if each parameter has one owner, false if shards are equal
  /// requires  ranks >= 1
  SplitLayout(const Model& model, int ranks, bool owners);

  /// Applies the layout to the model from which it was made.
  /// requires  the layout outlives the model
  void apply(Model& model) const;
  /// Applies the sizes to a model that shares the parameters. The layout must outlive that model.
  void apply_sizes(Model& model) const;

 private:
  int ranks_;
  std::int64_t decayed_ = 0, undecayed_ = 0;
  std::vector<ParameterOffsets> offsets_;
  std::vector<OwnedSlice> owned_;
};

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// The layout of the state that policies keep for each parameter.
#pragma once
#include "sinter/program/model.hpp"

namespace sinter::detail {

/// Calls visit(unit, node, number) for each trained parameter that a trained unit owns.
template <class Visit>
constexpr void for_each_parameter_of(const Model& model, int unit, Visit visit) {
  const Block& block = model.block(unit);
  for (int n = block.first_node; n < block.first_node + block.nodes; ++n) {
    const Node& node = model.nodes[std::size_t(n)];
    for (int p = node.borrowed; p < node.layer->param_count; ++p)
      if (!node.layer->params[p].is_running && !node.fixes(p)) visit(unit, n, p);
  }
}
/// Calls visit(unit, node, number) for each parameter of each trained unit, in Model::order.
template <class Visit>
constexpr void for_each_parameter(const Model& model, Visit visit) {
  for (const short unit : model.order) for_each_parameter_of<Visit&>(model, unit, visit);
}

/// A parameter's part of a space of state, in the arena or outside of it.
struct StatePart {
  StateShape shape;         ///< rows, columns and type
  std::int64_t offset = 0;  ///< bytes from the beginning of the space, on a rank that has it
};

/// Sums over what each rank stores of a space: one for each rank if ranks own slices, else one for
/// all.
class HeldSums {
  const Model& model;
  const bool of_owners;
  std::vector<std::int64_t> sums;

 public:
  /// Makes all sums 0.
  constexpr HeldSums(const Model& m, Space space)
      : model(m),
        of_owners(m.splits(space) && !m.owned.empty()),
        sums(std::size_t(of_owners ? m.shards : 1), 0) {}
  /// The sum of the ranks that store an element.
  constexpr std::int64_t& at(std::int64_t element) {
    return of_owners ? sums[std::size_t(model.owned_at(element).owner)] : sums[0];
  }
  /// The sum of the ranks that store parameter p of a node of a unit.
  constexpr std::int64_t& at(int unit, const Node& node, int p) {
    return of_owners ? at(model.place_of(unit, node, p)) : sums[0];
  }
  /// The largest sum.
  constexpr std::int64_t most() const { return *std::ranges::max_element(sums); }
};

/// The parts of region number r, in the order of for_each_parameter(). If the region has shapes,
/// the parts that a rank stores are packed.
constexpr std::vector<StatePart> state_parts(const Model& model, int r) {
  const Region& region = model.regions[std::size_t(r)];
  const Space space = sinter::region(r);
  std::vector<StatePart> parts;
  HeldSums ends(model, space);
  for_each_parameter(model, [&](int unit, int n, int p) {
    const Node& node = model.nodes[std::size_t(n)];
    const Param& param = node.layer->params[p];
    if (region.shape) {
      const StateShape shape = (*region.shape)(*node.layer, p);
      std::int64_t& end = ends.at(unit, node, p);
      parts.push_back({shape, end});
      end += aligned(shape.bytes());
    } else {
      parts.push_back(
          {{model.sizes.element[int(region.type)], param.rows, param.columns},
           model.held_at(space, model.place_of(unit, node, p)) * model.sizes.of(region.type)});
    }
  });
  return parts;
}

/// Bytes of region number r on a rank, the maximum over the ranks.
/// requires  the region has shapes
constexpr std::int64_t shaped_region_bytes(const Model& model, int r) {
  HeldSums bytes(model, region(r));
  for_each_parameter(model, [&](int unit, int n, int p) {
    const Node& node = model.nodes[std::size_t(n)];
    bytes.at(unit, node, p) +=
        aligned((*model.regions[std::size_t(r)].shape)(*node.layer, p).bytes());
  });
  return bytes.most();
}

/// Elements of a unit that a rank stores in a space without shapes, the maximum over the ranks.
/// requires  the unit is trained
constexpr std::int64_t unit_held_elements(const Model& model, Space space, int unit) {
  HeldSums elements(model, space);
  for (const bool decayed : {true, false})
    model.each_exchanged(model.part(unit, decayed),
                         [&](FlatSlice slice, int) { elements.at(slice.first) += slice.size; });
  return elements.most() / (model.splits(space) && model.owned.empty() ? model.shards : 1);
}

/// Bytes of a unit that a rank stores in region number r, the maximum over the ranks. A temporary
/// buffer packs them: the parts of the unit's parameters or, without shapes, the decayed part and
/// then the undecayed one.
/// requires  the unit is trained
constexpr std::int64_t unit_region_bytes(const Model& model, int r, int unit) {
  const Region& region = model.regions[std::size_t(r)];
  const Space space = sinter::region(r);
  if (!region.shape) return unit_held_elements(model, space, unit) * model.sizes.of(region.type);
  HeldSums bytes(model, space);
  for_each_parameter_of(model, unit, [&](int, int n, int p) {
    const Node& node = model.nodes[std::size_t(n)];
    bytes.at(unit, node, p) += aligned((*region.shape)(*node.layer, p).bytes());
  });
  return bytes.most();
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Where the state that policies keep of each parameter lies.
#pragma once
#include "sinter/program/model.hpp"

namespace sinter {

/// Calls visit(unit, node, number) for each parameter of a unit that is trained.
template <class Visit>
constexpr void for_each_parameter_of(const Model& model, int unit, Visit visit) {
  const Block& block = model.block(unit);
  for (int n = block.first_node; n < block.first_node + block.nodes; ++n) {
    const Node& node = model.nodes[std::size_t(n)];
    for (int p = node.borrowed; p < node.layer->param_count; ++p)
      if (!node.layer->params[p].running) visit(unit, n, p);
  }
}
/// Does so for all units that are trained, in the order of `order`.
template <class Visit>
constexpr void for_each_parameter(const Model& model, Visit visit) {
  for (const short unit : model.order) for_each_parameter_of<Visit&>(model, unit, visit);
}

/// Bytes of region number r.
/// requires  the region has shapes
constexpr std::int64_t shaped_region_bytes(const Model& model, int r) {
  std::int64_t bytes = 0;
  for_each_parameter(model, [&](int, int n, int p) {
    bytes += aligned((*model.regions[r].shape)(*model.nodes[n].layer, p).bytes());
  });
  return bytes;
}

/// Bytes of what this rank has of region number r for a unit. Where it comes and goes, these lie one after the
/// other: the parts of its parameters, or without shapes, of the decayed and of the undecayed part.
constexpr std::int64_t unit_region_bytes(const Model& model, int r, int unit) {
  const Region& region = model.regions[std::size_t(r)];
  if (!region.shape) {
    const int shards = model.splits(sinter::region(r)) ? model.shards : 1;
    return model.unit_elements(unit) / shards * model.sizes.of(region.type);
  }
  const Block& block = model.block(unit);
  std::int64_t bytes = 0;
  for (const Node& node : model.nodes.subspan(block.first_node, block.nodes))
    for (int p = node.borrowed; p < node.layer->param_count; ++p)
      if (!node.layer->params[p].running) bytes += aligned((*region.shape)(*node.layer, p).bytes());
  return bytes;
}

/// A parameter's part of a space of state, in the arena or outside of it.
struct StatePart {
  StateShape shape;
  std::int64_t offset = 0;  ///< bytes from the beginning of the space
};

/// The parts of region number r, in the order of for_each_parameter().
constexpr std::vector<StatePart> state_parts(const Model& model, int r) {
  const Region& region = model.regions[r];
  std::vector<StatePart> parts;
  std::int64_t end = 0;
  for_each_parameter(model, [&](int unit, int n, int p) {
    const Node& node = model.nodes[n];
    const Param& param = node.layer->params[p];
    if (region.shape) {
      StateShape shape = (*region.shape)(*node.layer, p);
      parts.push_back({shape, end});
      end += aligned(shape.bytes());
    } else {
      const ParameterOffsets& offsets = model.offsets[unit];
      const std::int64_t first = param.matrix ? offsets.decayed : offsets.undecayed;
      parts.push_back({{model.sizes.element[int(region.type)], param.rows, param.columns},
                       (first + model.offset_of(node, p)) * model.sizes.of(region.type)});
    }
  });
  return parts;
}

}  // namespace sinter

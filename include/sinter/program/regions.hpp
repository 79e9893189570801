// SPDX-License-Identifier: Apache-2.0
// Where the state that policies keep of each parameter lies.
#pragma once
#include "sinter/program/model.hpp"

namespace sinter {

/// Calls visit(unit, node, number) for each parameter that is trained, in the order of `order`.
template <class Visit>
constexpr void for_each_parameter(const Model& model, Visit visit) {
  for (int unit : model.order) {
    const Block& block = model.block(unit);
    for (int n = block.first_node; n < block.first_node + block.nodes; ++n)
      for (int p = model.nodes[n].borrowed; p < model.nodes[n].layer->param_count; ++p)
        if (!model.nodes[n].layer->params[p].running) visit(unit, n, p);
  }
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

/// A parameter's part of a persistent space.
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

// SPDX-License-Identifier: Apache-2.0
#include "sinter/plan/parameter.hpp"

#include "sinter/graph/names.hpp"
#include "sinter/program/subject.hpp"

namespace sinter::detail {

namespace {

/// requires  parameters are in the order of the model
void add_state(const Model& model, std::vector<Parameter>& parameters) {
  for (int r = 0; r < int(model.regions.size()); ++r) {
    std::vector<StatePart> parts = state_parts(model, r);
    std::size_t next = 0;
    for (int unit : model.order)
      for (Parameter& p : parameters)
        if (p.unit == unit && !p.frozen) p.state.push_back(parts[next++]);
  }
}

void add_owners(const Model& model, std::vector<Parameter>& parameters) {
  if (model.owned.empty()) return;
  for (Parameter& p : parameters)
    if (!p.frozen) p.owner = model.owned_at(p.offset).owner;
}

}  // namespace

std::vector<std::int64_t> shape_in_files(const Param& param) {
  std::vector<std::int64_t> shape;
  for (int size : param.dimensions)
    if (size > 0) shape.push_back(size);
  if (!shape.empty() || param.is_running) return shape;
  if (param.decays) shape.push_back(param.rows);
  shape.push_back(param.columns);
  return shape;
}

std::string unit_name(const Model& model, int unit) {
  return std::string(unit_letters(model.nodes, model.block(unit), model.units[unit]).view());
}

std::string subject(const Model& model, const Instruction& i) {
  return std::string(subject_letters(model, i).view());
}

std::vector<Parameter> list_parameters(const Model& model) {
  std::vector<Parameter> result;
  for (int u = 0; u < model.count(); ++u) {
    const Block& block = model.block(u);
    for (const Node& node : model.nodes.subspan(block.first_node, block.nodes))
      for (int p = node.borrowed; p < node.layer->param_count; ++p) {
        const Param& param = node.layer->params[p];
        result.push_back(
            {.name =
                 std::string(parameter_letters(model.nodes, block, model.units[u], node, p).view()),
             .shape = shape_in_files(param),
             .offset = model.place_of(u, node, p),
             .size = param.size(),
             .init = param.init,
             .decayed = param.decays,
             .frozen = model.units[u].frozen || param.is_running || node.fixes(p),
             .adapter = param.is_adapter,
             .running = param.is_running,
             .unit = u,
             .layer = node.layer,
             .number = p,
             .int8 = param.int8});
      }
  }
  add_state(model, result);
  add_owners(model, result);
  return result;
}

}  // namespace sinter::detail

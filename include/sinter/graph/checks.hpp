// SPDX-License-Identifier: Apache-2.0
// Checks of a traced model before it is planned.
#pragma once
#include "sinter/graph/graph.hpp"

namespace sinter::detail {

constexpr bool same_name(const Unit& a, const Unit& b) {
  return a.index == b.index && std::string_view(a.name) == b.name;
}

constexpr const Node* find_node(const Graph& graph, int unit, std::string_view name) {
  const Block& block = graph.blocks[graph.units[unit].block];
  for (int n = block.first_node; n < block.first_node + block.nodes; ++n)
    if (graph.nodes[n].name == name && !graph.nodes[n].tied) return &graph.nodes[n];
  return nullptr;
}

/// Gives each tied node the parameter offsets of the node that it borrows from; notes a fault if
/// there is no such node.
constexpr void resolve_ties(Graph& graph) {
  for (int u = 0; u < int(graph.units.size()); ++u) {
    const Unit& unit = graph.units[u];
    const Block& block = graph.blocks[unit.block];
    for (int n = block.first_node; n < block.first_node + block.nodes; ++n) {
      Node& node = graph.nodes[n];
      if (!node.tied) continue;
      const Node* owner = unit.tied < 0 ? nullptr : find_node(graph, unit.tied, node.tied);
      if (!owner) return graph.fault.note("the layer tied to is not there", unit.name, u);
      for (int p = 0; p < node.borrowed; ++p) {
        if (node.layer->params[p].is_running)
          return graph.fault.note("running values cannot be tied", unit.name, u);
        if (node.layer->params[p].size() != owner->layer->params[p].size() ||
            node.layer->params[p].padding > owner->layer->params[p].padding)
          return graph.fault.note("tied layers differ in size", unit.name, u);
        if (node.layer->params[p].stored() != owner->layer->params[p].stored() &&
            (node.layer->params[p].int8 || owner->layer->params[p].int8))
          return graph.fault.note("of tied layers one is in int8", unit.name, u);
        graph.offsets[node.first_offset + p] = graph.offsets[owner->first_offset + p];
      }
    }
  }
}

/// True if two nodes of a unit would give their parameters the same names.
constexpr bool same_parameters(const Node& a, const Node& b) {
  return a.borrowed < a.layer->param_count && b.borrowed < b.layer->param_count &&
         std::string_view(a.name) == b.name;
}

/// Checks the inside of a unit: every value must be used or returned, and every returned value must
/// be computed in the unit and returned once.
constexpr void check_inside(Graph& graph, const Unit& unit, int u) {
  const Block& block = graph.blocks[unit.block];
  auto wrong = [&](const char* what) { graph.fault.note(what, unit.name, u); };
  std::vector<int> used(block.locals, 0);
  for (int n = block.first_node; n < block.first_node + block.nodes; ++n)
    for (int i = 0; i < graph.nodes[n].layer->inputs; ++i) used[graph.nodes[n].in[i]] = 1;
  for (int v = 0; v < block.inputs; ++v)
    if (!used[v]) wrong("a unit takes what it does not use");
  for (int k = 0; k < block.outputs; ++k) {
    int& v = used[block.output[k]];
    if (block.output[k] < block.inputs) wrong("a unit returns what it was given");
    if (v == 2) wrong("a unit returns a value twice");
    v = 2;
  }
  for (int v : used)
    if (!v) wrong("a value in a unit is never used");
  for (int n = 0; n < block.nodes; ++n)
    for (int other = 0; other < n; ++other)
      if (same_parameters(graph.nodes[block.first_node + n], graph.nodes[block.first_node + other]))
        wrong("two layers of a unit have one name");
}
/// Checks all units, and that each value that a unit returns is a result or is used by another
/// unit.
constexpr void check_used(Graph& graph) {
  std::vector<char> used(graph.writers.size(), 0), checked(graph.blocks.size(), 0);
  std::vector<int> distinct;  // the first unit of each block
  for (int u = 0; u < int(graph.units.size()); ++u) {
    const Unit& unit = graph.units[u];
    if (!checked[unit.block]) {
      check_inside(graph, unit, u);
      for (int other : distinct)
        if (*unit.name && same_name(unit, graph.units[other]))
          graph.fault.note("two units have one name", unit.name, u);
      distinct.push_back(u);
    }
    checked[unit.block] = true;
    for (int k = 0; k < graph.blocks[unit.block].inputs; ++k)
      if (unit.in[k] >= 0) used[unit.in[k]] = true;
  }
  for (int value : graph.results)
    if (value >= 0) used[value] = true;
  for (int v = 0; v < int(used.size()); ++v)
    if (!used[v])
      graph.fault.note("what a unit returns is never used", graph.units[graph.writers[v]].name,
                       graph.writers[v]);
}

/// Checks that the results of trace() are losses.
constexpr void check_loss(Graph& graph) {
  if (graph.results.empty()) graph.fault.note("trace() has no g.result(loss)", "", -1);
  for (int value : graph.results) {
    if (value < 0) return graph.fault.note("the result of trace() is no loss", "", -1);
    int u = graph.writers[value];
    const Unit& unit = graph.units[u];
    const Block& block = graph.blocks[unit.block];
    int made = graph.locals[block.first_local + block.output[value - unit.first_value]].writer;
    if (made < 0 || !graph.nodes[block.first_node + made].layer->loss)
      graph.fault.note("the result of trace() is no loss", unit.name, u);
  }
}

}  // namespace sinter::detail

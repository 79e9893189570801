// SPDX-License-Identifier: Apache-2.0
// The order in which gradients of a traced model become final, and the parameter groups in use.
#pragma once
#include "sinter/graph/graph.hpp"
#include "sinter/graph/names.hpp"
#include "sinter/policy/claims.hpp"
#include "sinter/policy/hooks.hpp"

namespace sinter::detail {

/// Returns the trained units in the order in which their gradients become final. Backward runs from
/// the last unit to the first, so a gradient is final after the backward of the first unit that
/// uses the parameters.
constexpr std::vector<short> finality(const Graph& graph) {
  const int units = int(graph.units.size());
  std::vector<int> first(units, -1), head(units, -1), next(units, -1);  // lists by first user
  for (int u = units; u-- > 0;) {
    const Unit& unit = graph.units[u];
    if (graph.blocks[unit.block].parameters && !unit.frozen) first[u] = u;
    if (unit.tied >= 0 && !graph.units[unit.tied].frozen) first[unit.tied] = u;
  }
  for (int g = units; g-- > 0;) {
    if (first[g] < 0) continue;
    next[g] = head[first[g]];
    head[first[g]] = g;
  }
  std::vector<short> order;
  order.reserve(units);
  for (int u = units; u-- > 0;)
    for (int g = head[u]; g >= 0; g = next[g]) order.push_back(short(g));
  return order;
}

/// Calls visit(name) for each parameter that a unit owns, except for running values and what stays in
/// a unit with trained ones.
constexpr void for_each_name(const Graph& graph, const Unit& unit, auto visit) {
  const Block& block = graph.blocks[unit.block];
  for (int n = block.first_node; n < block.first_node + block.nodes; ++n)
    for (int p = graph.nodes[n].borrowed; p < graph.nodes[n].layer->param_count; ++p)
      if (!graph.nodes[n].layer->params[p].is_running && !graph.nodes[n].fixes(p))
        visit(parameter_letters(graph.nodes, block, unit, graph.nodes[n], p).view());
}
/// Returns, by group, 1 if the group has a trained parameter, else 0. A parameter is in the first
/// group that it matches.
constexpr std::vector<char> groups_in_use(const Graph& graph,
                                          std::span<const ParameterGroup> groups) {
  std::vector<char> used(groups.size(), 0);
  auto join = [&](std::string_view name) {
    for (std::size_t k = 0; k < groups.size(); ++k)
      if (matches(groups[k].pattern, name)) {
        used[k] = 1;
        return;
      }
  };
  for (const Unit& unit : graph.units)
    if (!unit.frozen) for_each_name(graph, unit, join);
  return used;
}

/// Checks that every parameter group has a trained parameter.
constexpr void check_parameter_groups(Graph& graph, auto policies) {
  for_each_policy(policies, [&]<hook::HasParameterGroups P>(P*) {
    const std::vector<char> used = groups_in_use(graph, P::parameter_groups);
    for (std::size_t k = 0; k < used.size(); ++k)
      if (!used[k])
        graph.fault.note_name("a parameter group is empty", P::parameter_groups[k].pattern);
  });
}

}  // namespace sinter::detail

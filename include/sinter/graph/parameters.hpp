// Which parameters of a traced model are frozen, in which group each is, and when its gradient is
// final.
#pragma once
#include "sinter/graph/graph.hpp"
#include "sinter/graph/names.hpp"
#include "sinter/recipe/recipe.hpp"

namespace sinter::detail {

/// The units with parameters, by the last backward that adds to their gradients: units run backward
/// from last to first, so it is that of the first unit that uses them.
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

/// Calls visit with the name of each parameter of a unit.
constexpr void for_each_name(const Graph& graph, const Unit& unit, auto visit) {
  const Block& block = graph.blocks[unit.block];
  for (int n = block.first_node; n < block.first_node + block.nodes; ++n)
    for (int p = 0; p < graph.nodes[n].layer->param_count && !graph.nodes[n].tied; ++p)
      visit(parameter_letters(graph.nodes, block, unit, graph.nodes[n], p).view());
}
/// Which of some groups have a parameter that is trained: each is in the first that it matches.
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

/// The patterns of what policies freeze.
constexpr std::vector<const char*> frozen_patterns(auto policies) {
  std::vector<const char*> patterns;
  for_each_policy(policies, [&]<class P>(P*) {
    if constexpr (requires { P::frozen; })
      patterns.insert(patterns.end(), P::frozen.begin(), P::frozen.end());
  });
  return patterns;
}

/// Marks the units that are frozen, as all of their parameters are, and those that need no backward
/// for it.
constexpr void mark_frozen(Graph& graph, const std::vector<const char*>& patterns) {
  std::vector<char> used(patterns.size(), 0);
  for (Unit& unit : graph.units) {
    const Block& block = graph.blocks[unit.block];
    int frozen = 0, all = 0;
    const char* by = nullptr;
    if (!patterns.empty())
      for_each_name(graph, unit, [&](std::string_view name) {
        const char* match = nullptr;
        for (std::size_t k = 0; k < patterns.size(); ++k)
          if (matches_part(patterns[k], name)) {
            match = patterns[k];
            used[k] = 1;
          }
        if (match) {
          by = match;
          ++frozen;
        }
        ++all;
      });
    unit.frozen = frozen > 0;
    if (frozen != 0 && frozen != all) graph.fault.note_name("a unit is frozen in part alone", by);
    unit.backward =
        (block.parameters && !unit.frozen) || (unit.tied >= 0 && !graph.units[unit.tied].frozen);
    for (int k = 0; k < block.inputs; ++k)
      if (unit.in[k] >= 0) unit.backward |= graph.units[graph.writers[unit.in[k]]].backward;
  }
  for (std::size_t k = 0; k < patterns.size(); ++k)
    if (!used[k]) graph.fault.note_name("what is frozen is not there", patterns[k]);
}

/// Every parameter group is of some parameter.
constexpr void check_parameter_groups(Graph& graph, auto policies) {
  for_each_policy(policies, [&]<class P>(P*) {
    if constexpr (requires { P::parameter_groups; }) {
      const std::vector<char> used = groups_in_use(graph, P::parameter_groups);
      for (std::size_t k = 0; k < used.size(); ++k)
        if (!used[k])
          graph.fault.note_name("a parameter group is empty", P::parameter_groups[k].pattern);
    }
  });
}

}  // namespace sinter::detail

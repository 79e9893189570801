// SPDX-License-Identifier: Apache-2.0
// The frozen units of a traced model.
#pragma once
#include "sinter/policy/hooks.hpp"
#include "sinter/recipe/parameters.hpp"

namespace sinter::detail {

/// The name patterns of the parameters that policies freeze.
constexpr std::vector<const char*> frozen_patterns(auto policies) {
  std::vector<const char*> patterns;
  for_each_policy(policies, [&]<hook::HasFrozen P>(P*) {
    patterns.insert(patterns.end(), P::frozen.begin(), P::frozen.end());
  });
  return patterns;
}

/// True if a name that begins with `unit` may match the pattern, judged by what precedes its first
/// star.
constexpr bool may_match(std::string_view pattern, std::string_view unit) {
  const std::size_t known = std::min({pattern.find('*'), pattern.size(), unit.size()});
  return pattern.substr(0, known) == unit.substr(0, known);
}

/// Sets Unit::frozen and Unit::backward; notes a fault for a partly frozen unit or an unused
/// pattern.
constexpr void mark_frozen(Graph& graph, const std::vector<const char*>& patterns) {
  std::vector<char> used(patterns.size(), 0);
  for (Unit& unit : graph.units) {
    const Block& block = graph.blocks[unit.block];
    int frozen = 0, all = 0;
    const char* by = nullptr;
    if (std::ranges::any_of(patterns, [&](auto p) { return may_match(p, unit.name); }))
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
    unit.frozen |= frozen > 0;
    if (frozen != 0 && frozen != all) graph.fault.note_name("a unit is frozen in part alone", by);
    unit.backward = ((block.parameters || block.running) && !unit.frozen) ||
                    (unit.tied >= 0 && !graph.units[unit.tied].frozen);
    for (int k = 0; k < block.inputs; ++k)
      if (unit.in[k] >= 0) unit.backward |= graph.units[graph.writers[unit.in[k]]].backward;
  }
  for (std::size_t k = 0; k < patterns.size(); ++k)
    if (!used[k]) graph.fault.note_name("what is frozen is not there", patterns[k]);
}

}  // namespace sinter::detail

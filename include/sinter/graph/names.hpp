// SPDX-License-Identifier: Apache-2.0
// Names of units and parameters, and patterns for them, as constants.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/base/text.hpp"
#include "sinter/graph/graph.hpp"

namespace sinter::detail {

/// True if a name matches a pattern, in which * stands for any letters, or none.
constexpr bool matches(std::string_view pattern, std::string_view name) {
  std::size_t letters = pattern.size(), end = name.size();
  for (; letters > 0 && pattern[letters - 1] != '*'; --letters, --end)
    if (end == 0 || pattern[letters - 1] != name[end - 1]) return false;
  if (letters == 0) return end == 0;
  if (letters == 1) return true;
  for (const std::string_view before = pattern.substr(0, letters - 1);; --end) {
    if (matches(before, name.substr(0, end))) return true;
    if (end == 0) return false;
  }
}

/// True if a pattern matches a name, or the part of it before one of its dots.
constexpr bool matches_part(std::string_view pattern, std::string_view name) {
  for (std::size_t end = 0; end <= name.size(); ++end)
    if ((end == name.size() || name[end] == '.') && matches(pattern, name.substr(0, end)))
      return true;
  return false;
}

/// Parameters with a learning rate or a weight decay of their own.
struct ParameterGroup {
  /// When weight decay applies.
  enum Decay : std::uint8_t { usual, never, always };  ///< usual: only to matrices
  const char* pattern = "*";                           ///< pattern for the parameters' names
  double learning_rate = 1;                            ///< factor of the step's learning rate
  Decay decay = usual;                                 ///< when weight decay applies to them
};

/// The name of a unit, with its number within a repeat. A unit without a name has the names of its
/// layers, joined by +; a layer without a name has the names of its parameters.
constexpr TextBuilder unit_letters(std::span<const Node> nodes, const Block& block,
                                   const Unit& unit) {
  TextBuilder name;
  name += unit.name;
  if (unit.index >= 0) (name += ".") += unit.index;
  if (*unit.name) return name;
  for (const Node& node : nodes.subspan(block.first_node, block.nodes)) {
    auto join = [&](const char* part) { (name += name.view().empty() ? "" : "+") += part; };
    if (*node.name) {
      join(node.name);
    } else {
      for (int p = node.borrowed; p < node.layer->param_count; ++p)
        join(node.layer->params[p].name);
    }
  }
  return name;
}

/// Hugging Face's name of a parameter: unit, node and parameter, joined by dots.
constexpr TextBuilder parameter_letters(std::span<const Node> nodes, const Block& block,
                                        const Unit& unit, const Node& node, int number) {
  TextBuilder name;
  if (*unit.name) (name += unit_letters(nodes, block, unit).view()) += ".";
  if (*node.name) (name += node.name) += ".";
  return name += node.layer->params[number].name;
}

}  // namespace sinter::detail

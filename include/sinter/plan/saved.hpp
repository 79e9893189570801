// SPDX-License-Identifier: Apache-2.0
// What forward saves for backward, and what backward recomputes.
#pragma once
#include "sinter/program/unit.hpp"

namespace sinter::detail {

/// Where backward finds what it reads of a unit.
class Kept {
 public:
  std::vector<char> recomputed;                      ///< by node: true if backward recomputes it
  std::vector<Operand> value;                        ///< by local: its place
  std::vector<std::array<Operand, max_fields>> own;  ///< by node: places of its own numbers
  std::int64_t bytes = 0;                            ///< size of the saved block

  /// Recomputes layers that are `chosen` inside backward, rather than saving their results.
  constexpr Kept(const Inside& unit, const Sizes& sizes, bool (*chosen)(const Layer&))
      : recomputed(unit.block.nodes, 0), value(unit.block.locals), own(unit.block.nodes) {
    std::vector<char> needed = referenced_by_backward(unit);
    choose(unit, chosen, needed);
    lay_out(unit, sizes, needed);
  }
  /// Saves nothing, for evaluation: only inputs and outputs have places outside the workspace.
  constexpr explicit Kept(const Inside& unit)
      : recomputed(unit.block.nodes, 0), value(unit.block.locals), own(unit.block.nodes) {
    for (int v = 0; v < unit.block.locals; ++v) value[v] = border(unit, v);
  }

 private:
  static constexpr Operand border(const Inside& unit, int v) {
    Operand operand;
    if (v < unit.block.inputs) {
      operand.where = Operand::unit_input;
      operand.index = short(v);
    } else if (int k = unit.output(v); k >= 0) {
      operand.where = Operand::unit_output;
      operand.index = short(k);
    }
    return operand;
  }
  static constexpr std::vector<char> referenced_by_backward(const Inside& unit) {
    std::vector<char> needed(unit.block.locals, 0);
    for (int n = 0; n < unit.block.nodes; ++n) {
      const Node& node = unit.node(n);
      for (int k = 0; k < node.layer->saved_count; ++k)
        if (node.layer->saved[k].kind != Keep::Kind::own)
          needed[referenced(node, node.layer->saved[k])] = true;
    }
    return needed;
  }

  /// Chooses the nodes to recompute, from the last to the first, as operands of a recomputed node
  /// are needed, too. Nodes that write the unit's outputs are not recomputed, as the outputs are
  /// kept.
  constexpr void choose(const Inside& unit, bool (*chosen)(const Layer&),
                        std::vector<char>& needed) {
    for (int n = unit.block.nodes; n-- > 0;) {
      const Node& node = unit.node(n);
      bool leaves = false, wanted = has_own(*node.layer);
      for (int o = 0; o < node.layer->outputs; ++o) {
        leaves |= unit.output(node.out + o) >= 0;
        wanted |= needed[node.out + o] != 0;
      }
      if (leaves || !chosen(*node.layer)) continue;
      recomputed[n] = wanted;
      for (int i = 0; i < node.layer->inputs && wanted; ++i) needed[node.in[i]] = true;
    }
  }

  constexpr Operand take(std::int64_t size) {
    Operand operand;
    operand.where = Operand::saved;
    operand.offset = bytes;
    bytes += size;
    return operand;
  }
  constexpr void lay_out(const Inside& unit, const Sizes& sizes, const std::vector<char>& needed) {
    for (int v = 0; v < unit.block.locals; ++v) {
      value[v] = border(unit, v);
      if (value[v].where == Operand::nowhere && needed[v] && !recomputed[unit.local(v).writer])
        value[v] = take(sizes.tensor(unit.local(v)));
    }
    for (int n = 0; n < unit.block.nodes; ++n) {
      const Node& node = unit.node(n);
      for (int k = 0; k < node.layer->saved_count && !recomputed[n]; ++k)
        if (const Keep& keep = node.layer->saved[k]; keep.kind == Keep::Kind::own)
          own[n][k] = take(sizes.tensor(own_local(unit, node, keep)));
    }
  }
};

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// The inside of a unit as data, planned once for all its repeats. It has the layer calls of four
// phases, a saved block that lives from forward to backward, and a workspace that lives for one
// phase.
#pragma once
#include <span>

#include "sinter/graph/graph.hpp"

namespace sinter::detail {

/// Rounds up to a multiple of 64 bytes, the alignment of everything in the arena.
constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// The purpose for which the layers of a unit are called.
enum class Phase : std::uint8_t {
  forward,
  recompute,
  backward,
  evaluate  // forward without a backward: nothing is saved, and losses run, too
};
inline constexpr int phases = 4;  ///< number of phases

/// The sizes of tensors.
struct Sizes {
  std::array<int, axes> rows{};          ///< maximum rows of each axis
  std::array<int, types> bytes{};        ///< bytes of an element of each type
  std::array<Element, types> element{};  ///< the type of each role
  constexpr int of(Type type) const { return bytes[int(type)]; }  ///< bytes of an element of a role
  /// Bytes of a value like this one, padded.
  constexpr std::int64_t tensor(const Local& like) const {
    int columns = like.type == Type::index ? 1 : like.width;
    return aligned(std::int64_t(rows[like.axis]) * columns * of(like.type));
  }
};

/// Where an operand of a layer call lies, and its shape: rows of an axis × columns.
struct Operand {
  /// The memory of an operand: values and gradients of the unit, its saved block or workspace.
  enum Where : std::uint8_t {
    nowhere,
    unit_input,
    unit_output,
    d_input,
    d_output,
    saved,
    workspace
  };
  Where where = nowhere;  ///< the memory that it lies in
  /// How a gradient is written; as_unit is decided when the unit is bound.
  enum Put : std::uint8_t { assign, add, as_unit } put = assign;
  short index = 0;                           ///< which input or output of the unit
  std::uint8_t axis = 0, element_bytes = 0;  ///< axis of its rows, and bytes of an element
  int columns = 0;                           ///< numbers in a row
  std::int64_t offset = 0;  ///< bytes from the beginning of the saved block or the workspace
};

/// Where a layer's part of the key-value cache lies.
struct CachePlace {
  std::int64_t offset =
      -1;                 ///< bytes from the beginning of the unit's part; below 0 if it has none
  int rows = 0;           ///< of a slot
  std::uint8_t axis = 0;  ///< axis of the rows
};

/// The key-value cache of programs that continue texts.
struct Caching {
  int slots = 0;                       ///< texts, or hypotheses of them; 0: there is no cache
  std::array<int, token_axes> rows{};  ///< the most rows of a text, on each axis
  int new_rows = 0;                    ///< the most rows of a text that one run of a program adds
  /// True if nothing is new on axis 1: only nodes on axis 0 run.
  bool only_first_axis = false;
};

/// One call of one layer.
struct LayerCall {
  bool backward;                                ///< true if it is a call of Layer::backward
  short node;                                   ///< index of the node in the block
  std::array<Operand, max_inputs> x{}, dx{};    ///< operands and their gradients
  std::array<Operand, max_outputs> y{}, dy{};   ///< results and their gradients
  std::array<Operand, max_fields> saved{};      ///< what the layer keeps, in its order
  Operand scratch{};                            ///< what Layer::scratch asks for
  CachePlace cache{};                           ///< what the layer keeps of earlier rows of texts
  bool extends = false;                         ///< true if it is a call of Layer::extend
  std::array<std::uint8_t, max_inputs> axis{};  ///< axis of each input, read or not
};

/// What a phase touches outside the unit, and its layer calls.
struct Touches {
  std::array<bool, max_inputs> input{};    ///< true if the input is read
  std::array<bool, max_outputs> output{};  ///< true if backward reads the output
  bool weights = false, tied = false;      ///< true if it reads own, or borrowed, parameters
  std::int64_t workspace = 0;              ///< bytes of the workspace
  int first_call = 0, calls = 0;           ///< first one in Model::layer_calls, and number
};

/// The plan of a block: its phases.
struct UnitPlan {
  std::array<Touches, phases> phase;  ///< by Phase
  std::int64_t saved_bytes = 0;  ///< of the saved block; 0 if forward saves nothing for backward
  std::int64_t cache_bytes = 0;  ///< of its part of the key-value cache
  bool unplanned = false;        ///< true if one of its layers takes memory that is not planned
  /// True if its output is the loss: backward writes it, and it receives no gradient.
  bool loss = false;
  constexpr const Touches& at(Phase p) const { return phase[int(p)]; }  ///< what a phase touches
};

/// One block of a graph; its nodes and locals are counted from 0.
struct Inside {
  const Graph& graph;  ///< the graph
  Block block;         ///< its block
  /// Layer call n of the block.
  constexpr const Node& node(int n) const { return graph.nodes[block.first_node + n]; }
  /// Value v of the block.
  constexpr const Local& local(int v) const { return graph.locals[block.first_local + v]; }
  /// Index of the unit's output that local v is, or -1.
  constexpr int output(int v) const {
    for (int k = 0; k < block.outputs; ++k)
      if (block.output[k] == v) return k;
    return -1;
  }
};

/// True if a layer saves numbers of its own, in the arena or in an object outside of it.
constexpr bool has_own(const Layer& layer) {
  bool any = layer.unplanned;
  for (int k = 0; k < layer.saved_count; ++k) any |= layer.saved[k].kind == Keep::Kind::own;
  return any;
}
/// The local that a Keep of this node names.
constexpr int referenced(const Node& node, const Keep& keep) {
  return keep.kind == Keep::Kind::input ? node.in[keep.which] : node.out + keep.which;
}
/// The numbers of its own that a layer saves for `keep`, as a local on the axis of its result.
constexpr Local own_local(const Inside& unit, const Node& node, const Keep& keep) {
  return {keep.width, unit.local(node.out).axis, keep.type, -1};
}

}  // namespace sinter::detail

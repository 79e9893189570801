// SPDX-License-Identifier: Apache-2.0
// The inside of a unit as data, planned once however often the unit repeats: the layer calls of its
// four phases, a saved block that lives from forward to backward, and a workspace that lives for
// one phase.
#pragma once
#include <span>

#include "sinter/graph/graph.hpp"

namespace sinter {

/// Rounds up to a multiple of 64 bytes, at which everything in the arena begins.
constexpr std::int64_t aligned(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

/// For what the layers of a unit are called.
enum class Phase : std::uint8_t {
  forward,
  recompute,
  backward,
  evaluate  // forward where no backward comes: nothing is saved, and losses run, too
};
inline constexpr int phases = 4;

/// How large tensors are.
struct Sizes {
  std::array<int, axes> rows{};    ///< the most that each axis may have
  std::array<int, types> bytes{};  ///< of an element of each type
  std::array<Element, types> element{};
  constexpr int of(Type type) const { return bytes[int(type)]; }
  /// Bytes of a value like this one, padded.
  constexpr std::int64_t tensor(const Local& like) const {
    int columns = like.type == Type::index ? 1 : like.width;
    return aligned(std::int64_t(rows[like.axis]) * columns * of(like.type));
  }
};

/// Where an operand of a layer call lies, and its shape: rows of an axis × columns.
struct Operand {
  /// The memory that it lies in: values and gradients of the unit, or its saved block or workspace.
  enum Where : std::uint8_t {
    nowhere,
    unit_input,
    unit_output,
    d_input,
    d_output,
    saved,
    workspace
  };
  Where where = nowhere;
  /// What is done with a gradient; as_unit is decided when the unit is bound.
  enum Put : std::uint8_t { assign, add, as_unit } put = assign;
  short index = 0;  ///< which input or output of the unit
  std::uint8_t axis = 0, element_bytes = 0;
  int columns = 0;
  std::int64_t offset = 0;  ///< bytes from the beginning of the saved block or the workspace
};

/// One call of one layer.
struct LayerCall {
  bool backward;                               ///< whether it is a call of Layer::backward
  short node;                                  ///< of the block
  std::array<Operand, max_inputs> x{}, dx{};   ///< operands and their gradients
  std::array<Operand, max_outputs> y{}, dy{};  ///< results and their gradients
  std::array<Operand, max_fields> saved{};     ///< what the layer keeps, in its order
  Operand scratch{};
  std::array<std::uint8_t, max_inputs> axis{};  ///< of the inputs, also of those that are not read
};

/// What a phase touches outside the unit, and its layer calls.
struct Touches {
  std::array<bool, max_inputs> input{};    ///< read, by number
  std::array<bool, max_outputs> output{};  ///< read by backward
  bool weights = false, tied = false;      ///< it reads parameters of its own, or borrowed ones
  std::int64_t workspace = 0;              ///< bytes
  int first_call = 0, calls = 0;           ///< in Model::layer_calls
};

/// The phases of a block.
struct UnitPlan {
  std::array<Touches, phases> phase;
  std::int64_t saved_bytes = 0;  ///< of the saved block; 0 if forward leaves nothing for backward
  bool unplanned = false;        ///< a layer of it takes memory that is not planned
  /// Its output is the loss: backward writes it, and nothing sends it a gradient.
  bool loss = false;
  constexpr const Touches& at(Phase p) const { return phase[int(p)]; }
};

/// One block of a graph, by its own numbers.
struct Inside {
  const Graph& graph;
  Block block;
  constexpr const Node& node(int n) const { return graph.nodes[block.first_node + n]; }
  constexpr const Local& local(int v) const { return graph.locals[block.first_local + v]; }
  /// Which output of the unit a local is, or -1.
  constexpr int output(int v) const {
    for (int k = 0; k < block.outputs; ++k)
      if (block.output[k] == v) return k;
    return -1;
  }
};

/// Whether a layer saves something of its own, be it in an object outside of the arena.
constexpr bool has_own(const Layer& layer) {
  bool any = layer.unplanned;
  for (int k = 0; k < layer.saved_count; ++k) any |= layer.saved[k].kind == Keep::own;
  return any;
}
/// The local that a Keep of this node names.
constexpr int referenced(const Node& node, const Keep& keep) {
  return keep.kind == Keep::input ? node.in[keep.which] : node.out + keep.which;
}
/// The numbers of its own that a layer saves, as a local on the axis of its result.
constexpr Local own_local(const Inside& unit, const Node& node, const Keep& keep) {
  return {keep.width, unit.local(node.out).axis, keep.type, -1};
}

}  // namespace sinter

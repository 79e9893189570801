// SPDX-License-Identifier: Apache-2.0
// The model as data. A unit is planned, recomputed and reduced as a whole, and frozen so unless some of
// its layers have adapters. Each distinct unit is traced once, and repeat() stamps copies of it.
#pragma once
#include <string_view>
#include <vector>

#include "sinter/layer/layer.hpp"

namespace sinter::detail {

/// An input of the model that each batch fills, such as ids of tokens or targets.
struct External {
  int axis;      ///< which set of sequences its rows follow, see token_axes
  int width;     ///< numbers in each row; 0 for one integer id
  bool targets;  ///< true for labels of the loss; ids below zero and absent rows are not predicted
};

/// A tensor inside a unit. The unit's inputs come first; no node writes them.
struct Local {
  int width, axis;  ///< numbers in each row, 0 for one id; and which sequences the rows follow
  Type type;        ///< the role of its elements
  int writer;       ///< the node of the block that writes it, or -1
};

/// A use of a layer inside a block: what g(name, layer, operands…) adds in a model's trace.
struct Node {
  const Layer* layer;              ///< erased<L, P>: its address stands for it
  const char* name;                ///< the name that the model gives
  std::array<int, max_inputs> in;  ///< its operands, as locals
  int out;                         ///< the local of its first result; further results follow
  /// Index of its first parameter in Graph::offsets or Model::parameter_offsets.
  int first_offset = 0;
  /// Name of the node from which it borrows parameters, in the unit that its unit is tied to; or
  /// null.
  const char* tied = nullptr;
  int borrowed = 0;  ///< number of parameters, the first ones, that it borrows from `tied`
  bool takes_adapter = false;           ///< true if it may have the recipe's adapter
  const Layer* adapted = nullptr;       ///< the layer with the recipe's adapter, if it may have one
  const Layer* frozen_layer = nullptr;  ///< the layer beside adapters, if its parameters stay
  /// True if its own parameters stay as they are, but for those of its adapter, while others of its
  /// unit are trained.
  bool frozen = false;

  /// True if the node owns its parameter number p, rather than borrowing it.
  constexpr bool owns(int p) const { return p >= borrowed; }
  /// True if its own parameter number p stays as it is, while others of its unit are trained.
  constexpr bool fixes(int p) const {
    return frozen && owns(p) && !layer->params[p].is_adapter && !layer->params[p].is_running;
  }
};

/// The common part of equal units, such as the transformer blocks of Gpt2: nodes and locals, stored
/// once.
struct Block {
  /// The block's runs in Graph::nodes and Graph::locals: first index and number.
  int first_node = 0, nodes = 0, first_local = 0, locals = 0;
  int inputs = 0;                         ///< number of inputs, which are the first locals
  int outputs = 0;                        ///< number of locals that leave the unit
  std::array<int, max_outputs> output{};  ///< locals that leave the unit
  /// Elements of its parameters, each padded to 64 bytes of fp32.
  std::int64_t decayed = 0, undecayed = 0;
  std::int64_t running = 0;     ///< elements of its running values, each padded likewise
  std::int64_t fixed = 0;       ///< elements of what Node::fixes(), each padded likewise
  std::int64_t parameters = 0;  ///< elements of its parameters, without padding
};

/// A part of the model that is planned as a whole, such as one transformer block: a use of a Block.
struct Unit {
  const char* name;                ///< the name that the model gives
  int index;                       ///< number within a repeat, or -1
  int block;                       ///< index in Graph::blocks
  std::array<int, max_inputs> in;  ///< a value, or -1 - number of the external input
  int first_value;                 ///< value of its first output; later outputs follow
  int tied = -1;                   ///< the unit whose parameters it borrows, or -1
  bool frozen = false;             ///< true if its parameters are not trained
  bool backward = true;            ///< true if it, or a unit that feeds it, uses trained parameters
  int plan = -1;                   ///< index in Model::plans
};

/// The first mistake in a model: in how its units are joined, or in names that a policy gives for
/// them.
struct Fault {
  const char* what = nullptr;  ///< at most 34 characters, unless `told`: see Text
  const char* unit = "";       ///< name of that unit, or the policy's name
  int number = -1;             ///< number of the unit
  bool told = false;           ///< true if a compile error has reported it already
  bool of_policy = false;      ///< true if `unit` is a name that a policy gives

  /// Notes a mistake of unit number u, unless one has been noted before.
  constexpr void note(const char* mistake, const char* name, int u, bool is_told = false) {
    if (!what) *this = {mistake, name, u, is_told};
  }
  /// Notes a mistake in a name that a policy gives, unless one has been noted before.
  constexpr void note_name(const char* mistake, const char* name) {
    if (!what) *this = {mistake, name, -1, false, true};
  }
};

/// All of a traced model, before it is planned.
struct Graph {
  Fault fault;                      ///< if there is one, the graph must not be planned
  std::vector<Local> locals;        ///< values inside blocks, block by block
  std::vector<Node> nodes;          ///< layer calls inside blocks, block by block
  std::vector<Block> blocks;        ///< what units are made of
  std::vector<Unit> units;          ///< in the order of forward
  std::vector<External> externals;  ///< inputs that the data gives
  std::vector<int> writers;         ///< the unit that returns each value
  std::vector<int> results;         ///< values that leave the model
  /// Where each parameter of each node begins within its part of its unit (decayed, undecayed,
  /// running or fixed), in elements.
  std::vector<std::int64_t> offsets;
};

/// Parameters start at multiples of this many elements.
inline constexpr int parameter_alignment = 16;
/// `elements`, rounded up to a multiple of parameter_alignment.
constexpr std::int64_t padded(std::int64_t elements) {
  return (elements + parameter_alignment - 1) / parameter_alignment * parameter_alignment;
}

/// Lays out the parameters that a node of a block owns, behind those of the nodes before it. Returns
/// the index of its offsets.
constexpr int lay_out(Graph& graph, Block& block, const Node& node) {
  const Layer& layer = *node.layer;
  const int first = int(graph.offsets.size());
  graph.offsets.resize(std::size_t(first + layer.param_count), 0);
  for (int p = node.borrowed; p < layer.param_count; ++p) {
    const Param& param = layer.params[p];
    std::int64_t& used = param.is_running ? block.running
                         : node.fixes(p)  ? block.fixed
                         : param.decays   ? block.decayed
                                          : block.undecayed;
    graph.offsets[std::size_t(first + p)] = used;
    used += padded(param.stored());
    if (!param.is_running) block.parameters += param.size();
  }
  return first;
}

}  // namespace sinter::detail

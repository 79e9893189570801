// SPDX-License-Identifier: Apache-2.0
// The model as data. A unit is planned, recomputed, frozen and reduced as a whole; each distinct
// unit is traced once, and repeat() stamps copies of it.
#pragma once
#include <string_view>
#include <vector>

#include "sinter/layer/layer.hpp"

namespace sinter {

/// An input of the model, filled from the batch.
struct External {
  int axis;      ///< which set of sequences its rows follow, see token_axes
  int width;     ///< numbers in each row; 0 for one integer id
  bool targets;  ///< the loss counts them; ids below zero and absent rows are not predicted
};

/// A value inside a unit. The first ones are the unit's inputs, which no node writes.
struct Local {
  int width, axis;  ///< numbers in each row, 0 for one id; and which sequences the rows follow
  Type type;
  int writer;  ///< the node of the block that writes it, or -1
};

/// One use of a layer inside a block.
struct Node {
  const Layer* layer;  ///< erased<L, P>: its address stands for it
  const char* name;
  std::array<int, max_inputs> in;  ///< locals
  int out;                         ///< first of its locals
  /// Of its parameters, in Graph::offsets or Model::parameter_offsets.
  int first_offset = 0;
  /// Name of the node that owns parameters of this one, in the unit that this node's unit is tied
  /// to.
  const char* tied = nullptr;
  int borrowed = 0;  ///< so many of its parameters are those of that node; the others are its own

  /// Whether parameter number p is its own.
  constexpr bool owns(int p) const { return p >= borrowed; }
};

/// A distinct unit: a run of the graph's nodes and one of its locals.
struct Block {
  /// The parts of Graph::nodes and of Graph::locals that are its own.
  int first_node = 0, nodes = 0, first_local = 0, locals = 0;
  int inputs = 0;                         ///< the first locals
  int outputs = 0;                        ///< how many locals leave it
  std::array<int, max_outputs> output{};  ///< locals that leave the unit
  /// Elements, each parameter padded to 64 bytes of fp32.
  std::int64_t decayed = 0, undecayed = 0;
  std::int64_t running = 0;     ///< the same of what forward itself changes
  std::int64_t parameters = 0;  ///< elements without padding
};

/// One use of a block.
struct Unit {
  const char* name;
  int index;  ///< within a repeat, or -1
  int block;
  std::array<int, max_inputs> in;  ///< a value, or -1 - number of the external input
  int first_value;                 ///< of its outputs
  int tied = -1;                   ///< the unit whose parameters it borrows, or -1
  bool frozen = false;             ///< its parameters stay as they are
  bool backward = true;  ///< it, or a unit that feeds it, uses parameters that are trained
  int plan = -1;         ///< in Model::plans
};

/// The first mistake in how units are joined, or in the names that a policy gives.
struct Fault {
  const char* what = nullptr;  ///< at most 34 characters, unless it is told: see Text
  const char* unit = "";
  int number = -1;         ///< of the unit
  bool told = false;       ///< a compile error has said it already
  bool of_policy = false;  ///< `unit` is a name that a policy gives

  /// Notes a mistake of unit number u, unless one has been noted before.
  constexpr void note(const char* mistake, const char* name, int u, bool is_told = false) {
    if (!what) *this = {mistake, name, u, is_told};
  }
  /// Notes a mistake of a name that a policy gives, likewise.
  constexpr void note_name(const char* mistake, const char* name) {
    if (!what) *this = {mistake, name, -1, false, true};
  }
};

/// All of a traced model, before it is planned.
struct Graph {
  Fault fault;  ///< where there is one, the rest must not be planned
  std::vector<Local> locals;
  std::vector<Node> nodes;
  std::vector<Block> blocks;
  std::vector<Unit> units;
  std::vector<External> externals;
  std::vector<int> writers;  ///< the unit that returns each value
  std::vector<int> results;  ///< values that leave the model
  /// Where each parameter of each node begins within its part of its unit (decayed, undecayed or
  /// running), in elements.
  std::vector<std::int64_t> offsets;
};

/// Parameters start at multiples of this many elements.
inline constexpr int parameter_alignment = 16;
/// So many elements, rounded up to such a multiple.
constexpr std::int64_t padded(std::int64_t elements) {
  return (elements + parameter_alignment - 1) / parameter_alignment * parameter_alignment;
}

}  // namespace sinter

// The model as data. A unit is what is planned, recomputed and gathered as a whole; each distinct
// unit is traced once, and repeat() stamps copies of it.
#pragma once
#include <string_view>
#include <vector>

#include "sinter/layer/layer.hpp"

namespace sinter {

/// What comes from outside. width 0: integer ids. targets: what the loss counts; ids below zero and
/// absent rows are not predicted.
struct External {
  int axis, width;
  bool targets;
};

/// A value inside a unit. The first ones are the unit's inputs, which no node writes.
struct Local {
  int width, axis;
  Type type;
  int writer;
};

struct Node {
  const Layer* layer;
  const char* name;
  std::array<int, max_inputs> in;  // locals
  int out;                         // first of its locals
  /// Of each parameter, in elements, within its group's decayed or undecayed part.
  std::array<int, max_fields> offset;
  const char* tied = nullptr;  // the node, in the unit that its unit is tied to, that owns them
};

/// A distinct unit: ranges in the graph's nodes and locals.
struct Block {
  int first_node = 0, nodes = 0, first_local = 0, locals = 0;
  int inputs = 0;  // the first locals
  int outputs = 0;
  std::array<int, max_outputs> output{};  // locals that leave the unit
  int decayed = 0, undecayed = 0;         // elements, each parameter padded to 64 bytes of fp32
  std::int64_t parameters = 0;            // without padding
};

/// One use of a block. Its parameters form the group with its number.
struct Unit {
  const char* name;
  int index;  // within a repeat, or -1
  int block;
  std::array<int, max_inputs> in;  // value, or -1 - number of the external input
  int first_value;                 // of its outputs
  int tied = -1;                   // the unit some of whose parameters it borrows
  bool frozen = false;             // its parameters stay as they are
  bool backward = true;            // it, or a unit that feeds it, has parameters that do not
  int plan = -1;                   // in Model::plans
};

/// A mistake in how units are joined, or in the names that a policy gives, in at most 34
/// characters; the first one counts.
struct Fault {
  const char* what = nullptr;
  const char* unit = "";
  int number = -1;         // of the unit
  bool told = false;       // an error has said it
  bool of_policy = false;  // `unit` is a name that a policy gives

  constexpr void note(const char* mistake, const char* name, int u, bool is_told = false) {
    if (!what) *this = {mistake, name, u, is_told};
  }
  constexpr void note_name(const char* mistake, const char* name) {
    if (!what) *this = {mistake, name, -1, false, true};
  }
};

struct Graph {
  Fault fault;
  std::vector<Local> locals;
  std::vector<Node> nodes;
  std::vector<Block> blocks;
  std::vector<Unit> units;
  std::vector<External> externals;
  std::vector<int> writers;  // of each value: its unit
  std::vector<int> results;  // values that leave the model
};

/// Parameters start at multiples of this many elements.
inline constexpr int parameter_alignment = 16;
constexpr int padded(std::int64_t elements) {
  return int((elements + parameter_alignment - 1) / parameter_alignment * parameter_alignment);
}

}  // namespace sinter

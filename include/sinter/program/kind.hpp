// SPDX-License-Identifier: Apache-2.0
// The training step as data: a list of instructions, and what each of them touches.
#pragma once
#include <optional>

#include "sinter/program/traffic.hpp"
#include "sinter/program/unit.hpp"

namespace sinter {

/// A family of buffers. A space and a number name a buffer: in `input` the number of an external
/// input, in `value` and `d_value` that of a value, in all others that of a unit.
enum class Space : std::uint8_t {
  input,
  master,     // the weights that the optimizer advances
  weights,    // the copy of them that layers read
  gradient,   // of parameters, as the update needs them
  value,      // results of units
  d_value,    // gradients of values
  d_weights,  // of parameters, in the micro-batch at hand: where Model::gradients says so
  fetched,    // masters of a unit that live outside of the arena: where Model::masters says so
  saved,      // what forward leaves for backward
  workspace,  // shared by all units
  kept,       // running values of a unit as the last step that was applied has left them
  running,    // the same in the step at hand
  decision,   // what the step at hand has measured, and what follows from it (kernel::Decision)
  region      // state of policies (Model::regions): this and all that follow, see region()
};
/// The space of region number `number` of Model::regions.
constexpr Space region(int number) { return Space(int(Space::region) + number); }
/// What people read of spaces. All regions are "state".
inline constexpr const char* space_names[]{
    "input",   "master", "weights",   "gradient", "value",   "d(value)", "d(weights)",
    "fetched", "saved",  "workspace", "kept",     "running", "decision", "state"};

/// What an instruction does with a buffer. Accumulate and consume are the rule that gives gradients
/// of shared values, tied weights and micro-batches.
enum class Use : std::uint8_t {
  read,        // needs the buffer open
  write,       // opens it; what it held is gone
  modify,      // reads and writes it in place
  accumulate,  // assigns to a closed buffer, and opens it; adds to an open one
  consume,     // reads and closes it; may add first: a unit does if it reads its own result, too
  fetch,       // starts a transfer into it, and opens it: nothing may touch it until `finish`
  send,        // starts a transfer out of it: nothing may write it until `finish`
  exchange,    // starts a transfer in place, as an all-reduce: nothing may touch it until `finish`
  finish       // waits for the transfer
};

/// What an instruction does to one buffer.
struct Touch {
  Use use;
  Space space;
  short index;
};
/// In the order in which an instruction does it.
using TouchList = std::vector<Touch>;

/// What the verifier must know of a kind beyond what it touches.
enum class Role : std::uint8_t {
  none,
  loop,     // begins the part that runs once for each micro-batch
  end,      // ends it
  loss,     // takes the losses of a unit into the sum of the step
  reduce,   // makes the gradients of a run of units those of all ranks
  scatter,  // the same, but of each unit's parts a rank then has its shard alone
  norm,     // takes the norm of all gradients; they are final
  guard,    // may refuse the step, which then changes nothing
  keep,     // keeps the running values of the step, if it is applied
  update,   // advances the master weights of a run of units
  gather,   // makes the weights of a run of units whole on all ranks, of each rank's shards
  fetch,  // makes those of a unit whole where they come and go, of each rank's shards of the masters
  follow  // reads the master weights of a run of units as the update has left them
};

class Machine;
struct Bound;
struct Model;
struct Instruction;

/// A kind of instruction, described once: what it touches, how it runs, and what the verifier must
/// know of it. The set is open: a policy in any namespace may bring its own.
struct Kind {
  const char* name;  ///< as `describe` prints it
  /// Appends all that the instruction touches. Placing, verifying and binding follow it.
  void (*touch)(const Model&, const Instruction&, TouchList&);
  /// Runs the instruction.
  /// requires  the buffers that it touches are bound
  void (*run)(Machine&, const Bound&);
  Role role = Role::none;
  /// With bit p it makes the layer calls of Phase p of the unit `what`, in the shared workspace.
  std::uint8_t phases = 0;
  /// Gives the bytes of the shared workspace that it needs otherwise.
  std::int64_t (*workspace)(const Model&, const Instruction&) = no_workspace;
  /// Whether a step that is not applied passes it over.
  bool if_applied = false;
  /// Whether, where ranks share the update, it works on the shards of this rank (Model::shares_update).
  bool by_shards = false;
  /// Appends all that the instruction says to other ranks and hears from them, as it runs on one of them.
  /// What it does not state it may not do: builds with assertions refuse it when it runs.
  std::optional<void (*)(const Model&, const Instruction&, const OnRank&, TrafficList&)> traffic{};

  static constexpr std::int64_t no_workspace(const Model&, const Instruction&) { return 0; }
};
/// Kind::phases of a kind that makes the calls of this phase.
constexpr std::uint8_t calls_of(Phase p) { return std::uint8_t(1 << int(p)); }

/// In which iterations of the loop an instruction runs. Outside the loop it runs once, whichever of
/// them it says.
enum class When : std::uint8_t { always, first, last };

/// One entry of a program.
struct Instruction {
  const Kind* kind;
  short what = -1;  ///< a unit, a value, or the first of a run in Model::order, as the kind says
  short count = 1;  ///< units in the run
  When when = When::always;  ///< in which iterations it runs
  constexpr bool operator==(const Instruction&) const = default;
};
/// What runs, in this order; the part between `loop` and `end` once for each micro-batch.
using Program = std::vector<Instruction>;

/// An empty program with room for what a policy makes of `from`: growing bit by bit is what costs
/// most in constant evaluation.
constexpr Program room_for(const Program& from) {
  Program result;
  result.reserve(2 * from.size() + 64);
  return result;
}

}  // namespace sinter

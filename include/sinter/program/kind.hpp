// SPDX-License-Identifier: Apache-2.0
// The training step as data: a list of instructions, and what each of them touches.
#pragma once
#include <optional>

#include "sinter/program/traffic.hpp"
#include "sinter/program/unit.hpp"

namespace sinter {

/// A family of buffers. A space and an index name a buffer. The index is that of an external input
/// in `input`, of a value in `value` and `d_value`, 0 in `starts`, and of a unit in all other
/// spaces.
enum class Space : std::uint8_t {
  input,
  starts,     // rows at which the sequences of the micro-batch start, on all axes; not in the arena
  master,     // the weights that the optimizer advances
  weights,    // the copy of the master weights that layers read
  gradient,   // gradients of parameters, as the update needs them
  value,      // results of units
  d_value,    // gradients of values
  d_weights,  // gradients of parameters in the current micro-batch, if Model::gradients() is this
  fetched,    // temporary copies of offloaded master weights, if Model::masters() is this
  saved,      // what forward leaves for backward
  workspace,  // shared by all units
  kept,       // running values of a unit after the last step that was applied
  running,    // running values of a unit in the current step
  decision,   // what the current step has measured, and what follows from it (kernel::Decision)
  cache,   // what layers keep of earlier rows of texts (Layer::cached), where texts are continued
  frozen,  // parameters that are not trained, as layers read them, if they have no master weights
  region   // state of policies (Model::regions): this and all later numbers, see region()
};
/// The space of region number `number` of Model::regions.
constexpr Space region(int number) { return Space(int(Space::region) + number); }

/// What an instruction does with a buffer, which is open while its content counts. With accumulate
/// and consume, gradients of shared values, tied weights and several micro-batches add up.
enum class Use : std::uint8_t {
  read,        // needs the buffer open
  write,       // opens it; its content is lost
  modify,      // reads and writes it in place
  accumulate,  // assigns to a closed buffer, and opens it; adds to an open one
  consume,     // reads and closes it; may add to it first, as a unit that reads its own result does
  fetch,       // starts a transfer into it, and opens it: nothing may touch it until `finish`
  send,        // starts a transfer out of it: nothing may write it until `finish`
  exchange,    // starts a transfer in place, as an all-reduce: nothing may touch it until `finish`
  finish       // waits for the transfer
};

/// What an instruction does to one buffer.
struct Touch {
  Use use;      ///< what happens to the buffer
  Space space;  ///< the space of the buffer
  short index;  ///< the buffer's index in that space
};
/// The touches of an instruction, in its order.
using TouchList = std::vector<Touch>;

/// The part of an instruction in a step, for the verifier: by it, updates follow the norm, for
/// example.
enum class Role : std::uint8_t {
  none,
  loop,     // begins the part that runs once for each micro-batch
  end,      // ends the loop
  loss,     // adds the losses of a unit to the sum of the step
  reduce,   // sums the gradients of a run of units over the ranks, on all ranks
  scatter,  // sums the gradients of a run of units; each rank gets only its shards
  norm,     // takes the norm of all gradients; they are final
  guard,    // may refuse the step, which then changes nothing
  keep,     // keeps the running values of the step, if it is applied
  update,   // advances the master weights of a run of units
  gather,   // makes the weights of a run of units whole on all ranks, from their shards
  fetch,    // makes the temporary weights of a unit whole, from the ranks' shards of the masters
  follow    // reads the master weights of a run of units after the update
};

class Machine;
struct Bound;
struct Model;
struct Instruction;

/// A kind of instruction, described once: what it touches, how it runs, and what the verifier must
/// know of it. The set is open: a policy in any namespace may define its own kinds.
struct Kind {
  const char* name;  ///< name that `describe` prints
  /// Appends all touches of the instruction, by which it is placed, verified and bound.
  void (*touch)(const Model&, const Instruction&, TouchList&);
  /// Runs the instruction. By default nothing is to run.
  /// requires  the buffers that it touches are bound
  void (*run)(Machine&, const Bound&) = runs_nothing;
  Role role = Role::none;  ///< its part in a step
  /// The phases of the unit `what` whose layer calls it makes, as bits (see calls_of()). They use
  /// the shared workspace.
  std::uint8_t phases = 0;
  /// Returns the bytes of shared workspace that the instruction itself needs, without layer calls.
  std::int64_t (*workspace)(const Model&, const Instruction&) = no_workspace;
  /// True if the instruction is skipped in a step that is not applied (kernel::Decision).
  bool if_applied = false;
  /// True if each rank runs it on its own shards only, where ranks share the update (Zero, say).
  bool by_shards = false;
  /// Appends all transfers between ranks that the instruction starts or awaits on one rank. Builds
  /// with assertions reject any other communication.
  std::optional<void (*)(const Model&, const Instruction&, const OnRank&, TrafficList&)> traffic{};

  /// Does nothing.
  static constexpr void runs_nothing(Machine&, const Bound&) {}
  /// Needs no bytes.
  static constexpr std::int64_t no_workspace(const Model&, const Instruction&) { return 0; }
};

/// The iterations of the loop in which an instruction runs. Outside the loop each instruction runs
/// once.
enum class When : std::uint8_t { always, first, last };

/// One entry of a program, such as forward of unit 3.
struct Instruction {
  const Kind* kind;  ///< what the instruction does
  short what = -1;   ///< a unit, a value, or the start of a run in Model::order: the kind decides
  short count = 1;   ///< number of units in the run
  When when = When::always;  ///< iterations in which it runs
  constexpr bool operator==(const Instruction&) const = default;
};
/// Instructions in their order; those between `loop` and `end` run once for each micro-batch.
using Program = std::vector<Instruction>;

namespace detail {
/// Printed names of spaces, by Space. All regions are "state".
inline constexpr const char* space_names[]{
    "input",    "starts",     "master",  "weights", "gradient",  "value",
    "d(value)", "d(weights)", "fetched", "saved",   "workspace", "kept",
    "running",  "decision",   "cache",   "frozen",  "state"};

/// Phase p as a bit of Kind::phases.
constexpr std::uint8_t calls_of(Phase p) { return std::uint8_t(1 << int(p)); }

/// Returns an empty program with room for a policy's rewrite of `from`. (Growing step by step costs
/// most in constant evaluation.)
constexpr Program room_for(const Program& from) {
  Program result;
  result.reserve(2 * from.size() + 64);
  return result;
}
}  // namespace detail

}  // namespace sinter

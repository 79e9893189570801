// The training step as data: a list of instructions, and what each of them touches.
#pragma once
#include "sinter/program/unit.hpp"

namespace sinter {

/// What can be touched; with a number it names a buffer. The number is that of an external input
/// (input), of a value (value, d_value), or of a unit (all others). From `region` on: state that
/// policies plan for themselves, one element for each parameter (Model::regions).
enum class Space : std::uint8_t {
  input,
  master,
  weights,
  gradient,
  value,
  d_value,
  saved,
  workspace,
  region
};
constexpr Space region(int number) { return Space(int(Space::region) + number); }
inline constexpr const char* space_names[]{"input",    "master", "weights",   "gradient", "value",
                                           "d(value)", "saved",  "workspace", "state"};

/// read         needs the buffer open
/// write        opens it; what it held is gone
/// modify       reads and writes it in place
/// accumulate   assigns to a closed buffer (and opens it), adds to an open one
/// consume      reads and closes; a unit may add to the gradient of a value that it uses itself
/// fetch        starts a transfer into it: opens it, nothing may touch it until `finish`
/// send         starts a transfer out of it: nothing may write it until `finish`
/// exchange     starts a transfer in place, as an all-reduce: both of the above
/// finish       waits for the transfer
/// Accumulate and consume are the rule that gives gradients of shared values, tied weights and
/// micro-batches.
enum class Use : std::uint8_t {
  read,
  write,
  modify,
  accumulate,
  consume,
  fetch,
  send,
  exchange,
  finish
};

struct Touch {
  Use use;
  Space space;
  short index;
};
using TouchList = std::vector<Touch>;

/// What the verifier must know of a kind beyond what it touches.
enum class Role : std::uint8_t {
  none,
  loop,    // begins the part that runs once for each micro-batch
  end,     // ends it
  loss,    // takes the losses of a unit into the sum of the step
  reduce,  // makes the gradients of a run of units those of all ranks
  norm,    // takes the norm of all gradients; they are final
  update,  // advances the master weights of a run of units
  follow   // reads the master weights of a run of units as the update has left them
};

class Machine;
struct Bound;
struct Model;
struct Instruction;

/// A kind of instruction, described once: what it touches, how it runs, what verify must know. The
/// set is open: a policy in any namespace may bring its own.
/// touch   ensures  appends all that the instruction touches; placing, verifying and running follow
/// it run     requires the touched buffers are bound (Machine::address)
struct Kind {
  const char* name;
  void (*touch)(const Model&, const Instruction&, TouchList&);
  void (*run)(Machine&, const Bound&);
  Role role = Role::none;
  /// Bit p: it makes the layer calls of Phase p of the unit `what`, in the shared workspace.
  std::uint8_t phases = 0;
  /// Bytes of the shared workspace that it needs otherwise.
  std::int64_t (*workspace)(const Model&, const Instruction&) = no_workspace;

  static constexpr std::int64_t no_workspace(const Model&, const Instruction&) { return 0; }
};
constexpr std::uint8_t calls_of(Phase p) { return std::uint8_t(1 << int(p)); }

/// In which iterations of the loop an instruction runs. Outside it all three mean: once.
enum class When : std::uint8_t { always, first, last };

struct Instruction {
  const Kind* kind;
  short what = -1;  // a unit, a value, or the first of a range in Model::order, as the kind says
  short count = 1;  // of the range
  When when = When::always;
  constexpr bool operator==(const Instruction&) const = default;
};
using Program = std::vector<Instruction>;

/// A program with room for what a policy makes of `from`: growing step by step is what costs most
/// in constant evaluation.
constexpr Program room_for(const Program& from) {
  Program result;
  result.reserve(2 * from.size() + 64);
  return result;
}

}  // namespace sinter

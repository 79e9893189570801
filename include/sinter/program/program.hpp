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
  reduce,  // makes gradients of a range of groups those of all ranks
  norm,    // takes the norm of all gradients; they are final
  update,  // advances the master weights of a range of groups
  follow   // reads the master weights of a range of groups as the update has left them
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
  /// Bytes of the shared workspace that it needs otherwise; null: none.
  std::int64_t (*workspace)(const Model&, const Instruction&) = nullptr;
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

/// What a policy keeps of one parameter. rows 0: nothing.
struct StateShape {
  Element element = Element::f32;
  int rows = 0, columns = 0;
  constexpr std::int64_t size() const { return std::int64_t(rows) * columns; }
  constexpr std::int64_t bytes() const { return size() * bytes_of(element); }
};

/// State of a policy: one element of this type for each parameter, flat, laid out as the master
/// weights; or, with `shape`, what that says of each parameter of a layer, one after the other.
/// owner: the policy, see tag_of.
struct Region {
  const char* name;
  Type type = Type::state;
  const void* owner = nullptr;
  StateShape (*shape)(const Layer& layer, int parameter) = nullptr;
};
/// An address that stands for a type.
template <class T>
inline constexpr char tag_of = 0;

/// Where the parameters of a group begin in the flat buffers, in elements.
struct GroupPlace {
  int decayed = 0, undecayed = 0;
};

/// A traced graph with its plans. Master weights, gradients and each region are flat: first all
/// that is decayed, then all that is not, both with the groups in `order`. Then come, among master
/// weights (and their copy) alone, the groups of frozen units.
struct Model {
  std::span<const Node> nodes;
  std::span<const Local> locals;
  std::span<const Block> blocks;
  std::span<const Unit> units;
  std::span<const External> externals;
  std::span<const int> writers;  // of each value: its unit
  std::span<const int> results;
  std::span<const UnitPlan> plans;     // of the blocks; of copies that are kept whole
  std::span<const Step> steps;         // of the plans
  std::span<const short> order;        // units with parameters that are trained, as their gradients
                                       // become final
  std::span<const GroupPlace> groups;  // by unit
  std::span<const Region> regions;
  Sizes sizes;
  Space weights =
      Space::master;          // where layers read them: a copy, or the master weights themselves
  bool keeps_weights = true;  // a copy of weights lives through all steps, cast once
  int decayed = 0, undecayed = 0, frozen = 0;  // elements in all

  constexpr int count() const { return int(units.size()); }
  constexpr const Block& block(int unit) const { return blocks[units[unit].block]; }
  constexpr const UnitPlan& plan(int unit) const { return plans[units[unit].plan]; }
  constexpr bool has_parameters(int unit) const { return block(unit).parameters > 0; }
  constexpr int elements() const { return decayed + undecayed; }
  constexpr int master_elements() const { return elements() + frozen; }
  /// Whether something must be told the gradient of a value.
  constexpr bool has_gradient(int value) const { return units[writers[value]].backward; }
  constexpr const Local& local(int value) const {
    const Unit& unit = units[writers[value]];
    const Block& b = blocks[unit.block];
    return locals[b.first_local + b.output[value - unit.first_value]];
  }
};

/// Calls visit(r) with the number of each region of a policy, in its order.
template <class Policy>
constexpr void for_each_region(const Model& model, auto visit) {
  for (int r = 0; r < int(model.regions.size()); ++r)
    if (model.regions[r].owner == &tag_of<Policy>) visit(r);
}

/// A program with room for what a policy makes of `from`: growing step by step is what costs most
/// in constant evaluation.
constexpr Program room_for(const Program& from) {
  Program result;
  result.reserve(2 * from.size() + 64);
  return result;
}

/// Calls visit(position, iteration) in the order of execution, with two iterations of the loop:
/// they show everything, the first, and the last after another. Every loop is run at least once.
template <class Visit>
constexpr void walk(std::span<const Instruction> program, Visit visit) {
  int begin = -1, iteration = 0, last = 0;
  for (int t = 0; t < int(program.size()); ++t) {
    const Instruction& i = program[t];
    if (i.when == When::first && iteration != 0) continue;
    if (i.when == When::last && iteration != last) continue;
    if (i.kind->role == Role::loop) {
      begin = t;
      last = 1;
    }
    visit(t, iteration);
    if (i.kind->role != Role::end || begin < 0) continue;
    if (++iteration <= last) {
      t = begin;
    } else {
      begin = -1;
      iteration = last = 0;
    }
  }
}

}  // namespace sinter

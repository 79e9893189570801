// SPDX-License-Identifier: Apache-2.0
// The kinds of instruction from which every program is made.
#pragma once
#include "sinter/kernels/decision.hpp"
#include "sinter/program/model.hpp"

namespace sinter {

namespace detail {
/// Functions that run instructions, for Kind::run (src/run/kinds.cpp).
namespace executes {
void load(Machine&, const Bound&);
void calls(Machine&, const Bound&);
void loss(Machine&, const Bound&);
void copy_running(Machine&, const Bound&);
void keep_running(Machine&, const Bound&);
}  // namespace executes
}  // namespace detail

namespace touches {

/// States that an instruction touches nothing.
constexpr void nothing(const Model&, const Instruction&, TouchList&) {}

/// States the use of the step's decision.
constexpr void decision(Use use, TouchList& out) { out.push_back({use, Space::decision, 0}); }

/// States the use of the starts of the micro-batch's sequences.
constexpr void starts(Use use, TouchList& out) { out.push_back({use, Space::starts, 0}); }

/// States that loading a micro-batch writes all inputs and the starts.
constexpr void load(const Model& model, const Instruction&, TouchList& out) {
  starts(Use::write, out);
  for (int e = 0; e < int(model.externals.size()); ++e)
    out.push_back({Use::write, Space::input, short(e)});
}

/// States what phase P of a unit does to its running values. Only forward changes them, once in
/// each micro-batch; evaluation and a frozen unit read the kept ones.
template <detail::Phase P>
constexpr void running(const Model& model, short unit, TouchList& out) {
  if (P == detail::Phase::evaluate || !model.changes_running(unit)) {
    out.push_back({Use::read, Space::kept, unit});
  } else if (P == detail::Phase::forward) {
    out.push_back({Use::modify, Space::running, unit});
  }
}

/// States that kept running values are read, and those of the step written.
constexpr void copy_running(const Model& model, const Instruction&, TouchList& out) {
  for (int u = 0; u < model.count(); ++u) {
    if (!model.changes_running(u)) continue;
    out.push_back({Use::read, Space::kept, short(u)});
    out.push_back({Use::write, Space::running, short(u)});
  }
}
/// States that running values of the step are consumed, and the kept ones changed.
constexpr void keep_running(const Model& model, const Instruction&, TouchList& out) {
  for (int u = 0; u < model.count(); ++u) {
    if (!model.changes_running(u)) continue;
    out.push_back({Use::consume, Space::running, short(u)});
    out.push_back({Use::modify, Space::kept, short(u)});
  }
}

/// States what the layer calls of phase P of a unit read and write outside the unit. All of them
/// read the starts, which say how many rows there are.
template <detail::Phase P>
constexpr void phase(const Model& model, const Instruction& i, TouchList& out) {
  const detail::Unit& unit = model.units[i.what];
  const detail::Block& block = model.block(i.what);
  const detail::UnitPlan& plan = model.plan(i.what);
  const sinter::detail::Touches& t = plan.at(P);
  starts(Use::read, out);
  for (int k = 0; k < block.inputs; ++k) {
    if (!t.input[k]) continue;
    if (unit.in[k] >= 0) out.push_back({Use::read, Space::value, short(unit.in[k])});
    if (unit.in[k] < 0) out.push_back({Use::read, Space::input, short(-1 - unit.in[k])});
  }
  for (int k = 0; k < block.outputs; ++k)
    if (t.output[k] && !plan.loss)
      out.push_back({Use::read, Space::value, short(unit.first_value + k)});
  if (block.running > 0) running<P>(model, i.what, out);
  if (t.weights) out.push_back({Use::read, model.weights(), i.what});
  if (t.tied) out.push_back({Use::read, model.weights(), short(unit.tied)});
  bool writes = P == detail::Phase::evaluate || (P == detail::Phase::forward && !plan.loss) ||
                (P == detail::Phase::backward && plan.loss);
  for (int k = 0; k < block.outputs && writes; ++k)
    out.push_back({Use::write, Space::value, short(unit.first_value + k)});
  if ((P == detail::Phase::forward || P == detail::Phase::recompute) && plan.saved_bytes)
    out.push_back({Use::write, Space::saved, i.what});
  if (P != detail::Phase::backward) return;
  if (plan.saved_bytes) out.push_back({Use::consume, Space::saved, i.what});
  for (int k = 0; k < block.outputs && !plan.loss; ++k)
    out.push_back({Use::consume, Space::d_value, short(unit.first_value + k)});
  for (int k = 0; k < block.inputs; ++k)
    if (unit.in[k] >= 0 && model.has_gradient(unit.in[k]))
      out.push_back({Use::accumulate, Space::d_value, short(unit.in[k])});
  if (block.parameters && !unit.frozen) out.push_back({Use::accumulate, model.gradients(), i.what});
  if (unit.tied >= 0 && !model.units[unit.tied].frozen)
    out.push_back({Use::accumulate, model.gradients(), short(unit.tied)});
}

/// States that taking a loss consumes it and adds it to the step's decision.
constexpr void loss(const Model& model, const Instruction& i, TouchList& out) {
  starts(Use::read, out);
  out.push_back({Use::consume, Space::value, short(model.units[i.what].first_value)});
  decision(Use::modify, out);
}

/// States that the value `what` is read.
constexpr void result(const Model&, const Instruction& i, TouchList& out) {
  out.push_back({Use::read, Space::value, i.what});
}

/// States the use of one space, such as gradients, of each unit in a run of Model::order.
constexpr void each(const Model& model, const Instruction& i, Use use, Space space,
                    TouchList& out) {
  for (int k = i.what; k < i.what + i.count; ++k) out.push_back({use, space, model.order[k]});
}

}  // namespace touches

namespace traffic {

/// States `like` for the decayed and for the undecayed part of a run of `count` units in
/// Model::order, except for an empty part.
constexpr void parts(const Model& model, int first, int count, Traffic like, TrafficList& out) {
  for (const bool decayed : {true, false}) {
    const detail::FlatSlice part = model.slice(first, count, decayed);
    like.first = part.first;
    like.count = part.size;
    if (part.size > 0) out.push_back(like);
  }
}

/// States operation O for both parts of an instruction's run of units, in a flat space S of type T.
template <Operation O, Traffic::Does Does, Space S, Type T>
constexpr void run(const Model& model, const Instruction& i, const OnRank&, TrafficList& out) {
  const Traffic like{O, Does, S, 0, 0, model.sizes.element[int(T)]};
  parts(model, i.what, i.count, like, out);
}

/// The number of first values of kernel::Decision that ranks sum in the norm: the losses, the votes
/// and, if each rank adds squares of only its shards, the squares.
constexpr int summed_in_norm(const Model& model) {
  return model.shares_update() ? kernel::Decision::up_to_squares : kernel::Decision::up_to_votes;
}
/// States the all-reduce of the first values of kernel::Decision.
constexpr void norm(const Model& model, const Instruction&, const OnRank&, TrafficList& out) {
  out.push_back({Operation::all_reduce, Traffic::both, Space::decision, 0, summed_in_norm(model),
                 Element::f64});
}

/// States the all-reduce of a step's running values, if there are several ranks.
constexpr void keep_running(const Model& model, const Instruction&, const OnRank& on,
                            TrafficList& out) {
  if (on.ranks == 1 || model.running == 0) return;
  const Element element = model.sizes.element[int(Type::master)];
  for (Traffic::Does does : {Traffic::starts, Traffic::waits})
    out.push_back({Operation::all_reduce, does, Space::running, 0, model.running, element});
}

}  // namespace traffic

namespace detail {
/// Computes a unit's values, and its saved block.
inline constexpr Kind forward{"forward", touches::phase<Phase::forward>, executes::calls,
                              Role::none, calls_of(Phase::forward)};
/// Computes a unit's saved block again.
inline constexpr Kind recompute{"recompute", touches::phase<Phase::recompute>, executes::calls,
                                Role::none, calls_of(Phase::recompute)};
/// Consumes the gradients of a unit's values and its saved block; adds to gradients of what it
/// read.
inline constexpr Kind backward{"backward", touches::phase<Phase::backward>, executes::calls,
                               Role::none, calls_of(Phase::backward)};
/// Computes a unit's values, including a loss, and saves nothing for backward.
inline constexpr Kind evaluate{"evaluate", touches::phase<Phase::evaluate>, executes::calls,
                               Role::none, calls_of(Phase::evaluate)};
/// Loads the next micro-batch into the inputs.
inline constexpr Kind load{"load", touches::load, executes::load};
/// Adds the losses of a unit to the sum of the step.
inline constexpr Kind take_loss{"loss", touches::loss, executes::loss, Role::loss};
/// Copies the kept running values, for the step to change the copy.
inline constexpr Kind copy_running{"copy running", touches::copy_running, executes::copy_running};
/// Keeps the running values of the step, averaged over the ranks, if the step is applied.
inline constexpr Kind keep_running{.name = "keep running",
                                   .touch = touches::keep_running,
                                   .run = executes::keep_running,
                                   .role = Role::keep,
                                   .if_applied = true,
                                   .traffic = traffic::keep_running};
/// Keeps the value with the number `what` until the program ends.
inline constexpr Kind result{"result", touches::result};
/// Begins the part that runs once for each micro-batch.
inline constexpr Kind loop{.name = "loop", .touch = touches::nothing, .role = Role::loop};
/// Ends the part that runs once for each micro-batch.
inline constexpr Kind end_loop{.name = "end", .touch = touches::nothing, .role = Role::end};
}  // namespace detail

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// The kinds of instruction that every program is made of.
#pragma once
#include "sinter/kernels/decision.hpp"
#include "sinter/program/model.hpp"

namespace sinter {

/// How they run (src/run/kinds.cpp).
namespace executes {
void nothing(Machine&, const Bound&);
void load(Machine&, const Bound&);
void calls(Machine&, const Bound&);
void loss(Machine&, const Bound&);
void copy_running(Machine&, const Bound&);
void keep_running(Machine&, const Bound&);
}  // namespace executes

namespace touches {

constexpr void nothing(const Model&, const Instruction&, TouchList&) {}

/// Touches the step's decision.
constexpr void decision(Use use, TouchList& out) { out.push_back({use, Space::decision, 0}); }

constexpr void load(const Model& model, const Instruction&, TouchList& out) {
  for (int e = 0; e < int(model.externals.size()); ++e)
    out.push_back({Use::write, Space::input, short(e)});
}

/// What a phase of a unit does with its running values: they change once in a micro-batch, so not
/// where it is recomputed; and without training, or where the unit is frozen, not at all.
template <Phase P>
constexpr void running(const Model& model, short unit, TouchList& out) {
  if (P == Phase::evaluate || !model.changes_running(unit)) {
    out.push_back({Use::read, Space::kept, unit});
  } else if (P == Phase::forward) {
    out.push_back({Use::modify, Space::running, unit});
  }
}

/// Makes the running values of a step of those that were kept.
constexpr void copy_running(const Model& model, const Instruction&, TouchList& out) {
  for (int u = 0; u < model.count(); ++u) {
    if (!model.changes_running(u)) continue;
    out.push_back({Use::read, Space::kept, short(u)});
    out.push_back({Use::write, Space::running, short(u)});
  }
}
/// Keeps them.
constexpr void keep_running(const Model& model, const Instruction&, TouchList& out) {
  for (int u = 0; u < model.count(); ++u) {
    if (!model.changes_running(u)) continue;
    out.push_back({Use::consume, Space::running, short(u)});
    out.push_back({Use::modify, Space::kept, short(u)});
  }
}

/// What the layer calls of a phase of a unit read and write outside of it.
template <Phase P>
constexpr void phase(const Model& model, const Instruction& i, TouchList& out) {
  const Unit& unit = model.units[i.what];
  const Block& block = model.block(i.what);
  const UnitPlan& plan = model.plan(i.what);
  const sinter::Touches& t = plan.at(P);
  for (int k = 0; k < block.inputs; ++k) {
    if (!t.input[k]) continue;
    if (unit.in[k] >= 0) out.push_back({Use::read, Space::value, short(unit.in[k])});
    if (unit.in[k] < 0) out.push_back({Use::read, Space::input, short(-1 - unit.in[k])});
  }
  for (int k = 0; k < block.outputs; ++k)
    if (t.output[k] && !plan.loss)
      out.push_back({Use::read, Space::value, short(unit.first_value + k)});
  if (block.running > 0) running<P>(model, i.what, out);
  if (t.weights) out.push_back({Use::read, model.weights, i.what});
  if (t.tied) out.push_back({Use::read, model.weights, short(unit.tied)});
  bool writes = P == Phase::evaluate || (P == Phase::forward && !plan.loss) ||
                (P == Phase::backward && plan.loss);
  for (int k = 0; k < block.outputs && writes; ++k)
    out.push_back({Use::write, Space::value, short(unit.first_value + k)});
  if ((P == Phase::forward || P == Phase::recompute) && plan.saved_bytes)
    out.push_back({Use::write, Space::saved, i.what});
  if (P != Phase::backward) return;
  if (plan.saved_bytes) out.push_back({Use::consume, Space::saved, i.what});
  for (int k = 0; k < block.outputs && !plan.loss; ++k)
    out.push_back({Use::consume, Space::d_value, short(unit.first_value + k)});
  for (int k = 0; k < block.inputs; ++k)
    if (unit.in[k] >= 0 && model.has_gradient(unit.in[k]))
      out.push_back({Use::accumulate, Space::d_value, short(unit.in[k])});
  if (block.parameters && !unit.frozen) out.push_back({Use::accumulate, model.gradients, i.what});
  if (unit.tied >= 0 && !model.units[unit.tied].frozen)
    out.push_back({Use::accumulate, model.gradients, short(unit.tied)});
}

constexpr void loss(const Model& model, const Instruction& i, TouchList& out) {
  out.push_back({Use::consume, Space::value, short(model.units[i.what].first_value)});
  decision(Use::modify, out);
}

constexpr void result(const Model&, const Instruction& i, TouchList& out) {
  out.push_back({Use::read, Space::value, i.what});
}

/// Touches the parameters of each unit in a run of Model::order.
constexpr void each(const Model& model, const Instruction& i, Use use, Space space,
                    TouchList& out) {
  for (int k = i.what; k < i.what + i.count; ++k) out.push_back({use, space, model.order[k]});
}

}  // namespace touches

namespace traffic {

/// States `like` of the decayed and of the undecayed part of a run of `count` units in Model::order, where
/// there are any.
constexpr void parts(const Model& model, int first, int count, Traffic like, TrafficList& out) {
  for (const bool decayed : {true, false}) {
    const FlatSlice part = model.slice(first, count, decayed);
    like.first = part.first;
    like.count = part.size;
    if (part.size > 0) out.push_back(like);
  }
}

/// Does so of an instruction's run of units, in a flat space of this type.
template <Operation O, Traffic::Does Does, Space S, Type T>
constexpr void run(const Model& model, const Instruction& i, const OnRank&, TrafficList& out) {
  const Traffic like{O, Does, S, 0, 0, model.sizes.element[int(T)]};
  parts(model, i.what, i.count, like, out);
}

/// States that the sum of the losses and the votes become those of all ranks: the first numbers of kernel::Decision.
constexpr void losses(const Model&, const Instruction&, const OnRank&, TrafficList& out) {
  out.push_back({Operation::all_reduce, Traffic::both, Space::decision, 0,
                 kernel::Decision::up_to_votes, Element::f64});
}

/// States that the running values of a step become their sum over the ranks, where there are several.
constexpr void keep_running(const Model& model, const Instruction&, const OnRank& on,
                            TrafficList& out) {
  if (on.ranks == 1 || model.running == 0) return;
  const Element element = model.sizes.element[int(Type::master)];
  for (Traffic::Does does : {Traffic::starts, Traffic::waits})
    out.push_back({Operation::all_reduce, does, Space::running, 0, model.running, element});
}

}  // namespace traffic

/// Makes the values of a unit, and its saved block.
inline constexpr Kind forward{"forward", touches::phase<Phase::forward>, executes::calls,
                              Role::none, calls_of(Phase::forward)};
/// Fills the saved block of a unit again.
inline constexpr Kind recompute{"recompute", touches::phase<Phase::recompute>, executes::calls,
                                Role::none, calls_of(Phase::recompute)};
/// Adds to gradients from those of a unit's values, and uses up its saved block.
inline constexpr Kind backward{"backward", touches::phase<Phase::backward>, executes::calls,
                               Role::none, calls_of(Phase::backward)};
/// Makes the values of a unit, its loss included, and keeps nothing.
inline constexpr Kind evaluate{"evaluate", touches::phase<Phase::evaluate>, executes::calls,
                               Role::none, calls_of(Phase::evaluate)};
/// Puts the next micro-batch into the inputs.
inline constexpr Kind load{"load", touches::load, executes::load};
/// Adds the losses of a unit to the sum of the step.
inline constexpr Kind take_loss{"loss", touches::loss, executes::loss, Role::loss};
/// Makes the running values that a step changes of those that were kept.
inline constexpr Kind copy_running{"copy running", touches::copy_running, executes::copy_running};
/// Keeps what the step has made of them, their mean over the ranks, if it is applied.
inline constexpr Kind keep_running{.name = "keep running",
                                   .touch = touches::keep_running,
                                   .run = executes::keep_running,
                                   .role = Role::keep,
                                   .if_applied = true,
                                   .traffic = traffic::keep_running};
/// Keeps the value with the number `what` until the program ends.
inline constexpr Kind result{"result", touches::result, executes::nothing};
/// Begins the part that runs once for each micro-batch.
inline constexpr Kind loop{"loop", touches::nothing, executes::nothing, Role::loop};
/// Ends it.
inline constexpr Kind end_loop{"end", touches::nothing, executes::nothing, Role::end};

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
#include "sinter/recipe/savings.hpp"

#include <algorithm>

#include "sinter/plan/evaluation.hpp"
#include "sinter/plan/owners.hpp"

namespace sinter::detail {
namespace {

/// The parts of a plan that a technique may change.
struct Variant {
  int micro;
  Sizes sizes;  // for the recipe's own micro-batches
  RecomputedInside recomputed{};
  Program program;
  std::vector<Region> regions;
  bool has_owners;  // if ranks have shards: true if these are whole parameters
};

/// Returns the recipe's own variant.
Variant own(const PlanView& plan) {
  Variant v{plan.micro, plan.model.sizes, plan.recomputed, {}, {}, !plan.model.owned.empty()};
  v.program.assign(plan.training.program.begin(), plan.training.program.end());
  v.regions.assign(plan.model.regions.begin(), plan.model.regions.end());
  return v;
}

/// Returns the bytes of the arena that a variant needs.
std::int64_t total_of(const PlanView& plan, const Variant& v) {
  Model model = plan.model;
  Graph graph;
  graph.locals.assign(model.locals.begin(), model.locals.end());
  graph.nodes.assign(model.nodes.begin(), model.nodes.end());
  graph.blocks.assign(model.blocks.begin(), model.blocks.end());
  graph.units.assign(model.units.begin(), model.units.end());
  const Sizes sizes = sizes_for(v.sizes, plan.micro, v.micro);
  std::vector<LayerCall> layer_calls;
  const std::vector<UnitPlan> plans = plan_units(graph, sizes, v.recomputed, true, layer_calls);
  choose_plans(graph, v.recomputed);
  model.units = graph.units;
  model.sizes = sizes;
  model.plans = plans;
  model.layer_calls = layer_calls;
  model.regions = v.regions;
  const SplitLayout layout(model, model.shards, v.has_owners);
  layout.apply(model);
  const bool copies = sizes.element[int(Type::compute)] != sizes.element[int(Type::master)];
  if (!model.fetches_weights()) {
    const SpaceTable other = space_table({.copies = copies, .shared = plan.model.shared()});
    for (const Space space : {Space::master, Space::weights})
      model.spaces[std::size_t(space)] = other[std::size_t(space)];
  }
  const Program evaluation(plan.evaluation.program.begin(), plan.evaluation.program.end());
  return std::max(place(model, v.program).peak, place(model, evaluation).peak);
}

/// Uses the recomputation of a memory policy in place of the recipe's own.
void use_memory(const PlanView& plan, Variant& v, const Alternative& a) {
  v.recomputed = *a.recomputed;
  std::erase_if(v.program,
                [](const Instruction& i) { return i.kind->phases == calls_of(Phase::recompute); });
  v.program = a.rewrite(plan.model, v.program);
}

void use_optimizer(const PlanView& plan, Variant& v, const Alternative& a) {
  for (Instruction& i : v.program)
    if (i.kind->role == Role::update) i.kind = a.update;
  const auto own = [&](const Region& r) { return r.owner == plan.optimizer; };
  const bool offloaded = std::ranges::any_of(
      v.regions, [&](const Region& r) { return own(r) && r.row.lies == Lies::offloaded; });
  std::erase_if(v.regions, own);
  v.has_owners = plan.model.shards > 1 && a.by_parameter;
  for (Region region : a.regions) {
    const bool split = plan.model.shards > 1 && (!region.shape || v.has_owners);
    region.row = {offloaded ? Lies::offloaded : Lies::arena, split ? Holds::shards : Holds::whole};
    v.regions.push_back(region);
  }
}

void use_precision(Variant& v, const Alternative& a) {
  v.sizes.element = *a.elements;
  for (int t = 0; t < types; ++t) v.sizes.bytes[t] = bytes_of(v.sizes.element[t]);
}

void use(const PlanView& plan, Variant& v, const Alternative& a) {
  if (a.recomputed) use_memory(plan, v, a);
  if (a.elements) use_precision(v, a);
  if (a.update) use_optimizer(plan, v, a);
}

}  // namespace

std::vector<Saving> savings(const PlanView& plan, std::span<const Alternative> alternatives) {
  std::vector<Saving> list;
  auto add = [&](std::string technique, int cost, const Variant& v) {
    const std::int64_t total = total_of(plan, v);
    if (total < plan.memory.total) list.push_back({std::move(technique), total, cost});
  };
  for (const SmallerMicroBatch& smaller : smaller_micro_batches(plan.micro)) {
    Variant v = own(plan);
    v.micro = smaller.micro;
    add(smaller.words(), smaller.cost, v);
  }
  for (const Alternative& a : alternatives) {
    if (a.elements && plan.model.keeps_frozen_apart())
      continue;  // what is frozen has its own types
    Variant v = own(plan);
    use(plan, v, a);
    add(std::string(a.offer.words), a.offer.cost, v);
  }
  return list;
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#include "sinter/forecast/costs.hpp"

#include <algorithm>
#include <cmath>

#include "sinter/forecast/offload.hpp"
#include "sinter/plan/flops.hpp"

namespace sinter::detail {
namespace {

/// The cost of the instructions of a plan's program.
class Costs {
  const PlanView& plan;
  const Model& model = plan.model;
  const DeviceCost& device;

 public:
  Costs(const PlanView& p, const DeviceCost& d) : plan(p), device(d) {}

  double of(const Instruction& i) const {
    return i.kind->phases ? of_calls(i) : double(touched(i)) / device.bytes;
  }
  OffloadStep offload(const Instruction& i) const {
    TouchList list;
    i.kind->touch(model, i, list);
    OffloadStep step;
    bool waits = false;
    for (const Touch& touch : list) {
      if (!comes_from_offload(touch)) continue;
      const auto bytes = double(bytes_of(i, touch));
      if (touch.use == Use::fetch) step.fetched += bytes;
      if (touch.use == Use::send) step.stored += bytes;
      waits = waits || touch.use == Use::finish;
      step.awaits_stores = step.awaits_stores || (waits && closes(touch.use));  // it gives it up
    }
    step.awaits_fetches = waits && !step.awaits_stores;
    return step;
  }

 private:
  // ---- layer calls
  double of_calls(const Instruction& i) const {
    const UnitPlan& unit = model.plan(i.what);
    double seconds = 0;
    for (int p = 0; p < phases; ++p) {
      if (!(i.kind->phases & (1 << p))) continue;
      const Touches& phase = unit.phase[std::size_t(p)];
      for (const LayerCall& call :
           model.layer_calls.subspan(std::size_t(phase.first_call), std::size_t(phase.calls)))
        seconds += of_call(model.units[std::size_t(i.what)], call);
    }
    return seconds;
  }
  double of_call(const Unit& unit, const LayerCall& call) const {
    const Block& block = model.blocks[std::size_t(unit.block)];
    const Node& node = model.nodes[std::size_t(block.first_node + call.node)];
    const std::array<int, axes> contexts{plan.context, plan.second_context, plan.context,
                                         plan.context};
    const auto axis = [&](int local) {
      return std::size_t(model.locals[std::size_t(block.first_local + local)].axis);
    };
    const std::size_t on = axis(node.out), second = axis(node.in[node.layer->inputs > 1]);
    const std::int64_t forward = node.layer->flops(contexts[on], contexts[second]);
    std::int64_t flops = forward;
    if (call.backward) {
      flops = backward_flops(*node.layer, backward_passes(model, unit, node), forward);
      if (node.layer->loss) flops += forward;  // the backward of a loss computes it first
    }
    return std::max(double(model.sizes.rows[on]) * double(flops) / device.flops,
                    bytes_of_call(node, call, forward > 0) / device.bytes);
  }
  /// The parameters of a layer that computes nothing, such as one that looks up rows of a table,
  /// are not counted.
  double bytes_of_call(const Node& node, const LayerCall& call, bool computes) const {
    double bytes = 0;
    const auto add = [&](const auto& operands) {
      for (const Operand& o : operands) {
        if (o.where == Operand::nowhere) continue;
        const double twice = o.put == Operand::add ? 2 : 1;
        bytes += twice * model.sizes.rows[o.axis] * o.columns * o.element_bytes;
      }
    };
    add(call.x), add(call.dx), add(call.y), add(call.dy), add(call.saved);
    if (!computes) return bytes;
    const Type type = model.weights() == Space::weights ? Type::compute : Type::master;
    for (int p = 0; p < node.layer->param_count; ++p)
      bytes += double(node.layer->params[std::size_t(p)].stored()) * model.sizes.of(type);
    return bytes;
  }

  // ---- what else is touched
  std::int64_t touched(const Instruction& i) const {
    TouchList list;
    i.kind->touch(model, i, list);
    const auto waits = [](const Touch& t) { return t.use == Use::finish || t.use == Use::consume; };
    if (std::ranges::all_of(list, waits) && !std::ranges::all_of(list, closes, &Touch::use))
      return 0;
    std::int64_t bytes = 0;
    for (const Touch& touch : list) bytes += times(touch.use) * bytes_of(i, touch);
    return bytes;
  }
  std::int64_t bytes_of(const Instruction& i, const Touch& touch) const {
    const std::int64_t once = bytes_of_space(touch.space, touch.index);
    const bool in_shard = i.kind->by_shards && of_parameters(touch.space);
    return in_shard ? std::llround(double(once) * model.share()) : once;
  }
  /// True if a touch is of offloaded state, when it is here.
  bool comes_from_offload(const Touch& touch) const {
    return model.is_offloaded(touch.space == Space::fetched ? Space::master : touch.space);
  }
  /// The number of passes over the bytes; transfers and their waits have none.
  static int times(Use use) {
    if (use == Use::read || use == Use::write || use == Use::consume) return 1;
    return use == Use::modify || use == Use::accumulate ? 2 : 0;
  }
  static bool of_parameters(Space space) {
    return space != Space::input && space != Space::value && space != Space::d_value &&
           space != Space::saved && space != Space::workspace && space != Space::decision &&
           space != Space::starts && space != Space::running && space != Space::kept;
  }
  std::int64_t bytes_of_space(Space space, int index) const {
    if (space == Space::workspace || space == Space::decision || space == Space::starts) return 0;
    if (!of_parameters(space) && space != Space::running && space != Space::kept)
      return buffer_bytes(model, space, index);
    const Block& block = model.block(index);
    if (space == Space::running || space == Space::kept)
      return block.running * model.sizes.of(Type::master);
    const std::int64_t elements = model.unit_elements(index);
    if (space >= Space::region && model.region_of(space).shape)
      return std::int64_t(double(flat_bytes(model, space)) /
                          (model.splits(space) ? model.share() : 1) * double(elements) /
                          double(std::max<std::int64_t>(model.elements(), 1)));
    return elements * model.sizes.of(type_of(model, space));
  }
};

}  // namespace

std::vector<double> computing_seconds(const PlanView& plan, const DeviceCost& device) {
  const Costs costs(plan, device);
  std::vector<double> seconds;
  seconds.reserve(plan.training.program.size());
  for (const Instruction& i : plan.training.program) seconds.push_back(costs.of(i));
  return seconds;
}

std::vector<OffloadStep> offload_steps(const PlanView& plan) {
  const DeviceCost any{1, 1};
  const Costs costs(plan, any);
  std::vector<OffloadStep> steps;
  steps.reserve(plan.training.program.size());
  for (const Instruction& i : plan.training.program) steps.push_back(costs.offload(i));
  return steps;
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#include "run/binder.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "run/communicates.hpp"
#include "sinter/error.hpp"
#include "sinter/program/lifetimes.hpp"

namespace sinter::detail {

std::byte* flat_address(const PlacementView& placement, std::byte* arena, Space space) {
  for (const Buffer& b : placement.buffers)
    if (b.opened_by < 0 && b.space == space) return arena + b.offset;
  return nullptr;
}

int first_change(const Model& model, std::span<const Instruction> program) {
  const auto is_held = [](Space space) {
    return space == Space::master || space == Space::fetched || space == Space::kept ||
           space >= Space::region;
  };
  const auto at = std::ranges::find_if(program, [&](const Instruction& i) {
    TouchList list;
    i.kind->touch(model, i, list);
    return std::ranges::any_of(list, [&](Touch touch) {
      return changes(touch.use) && touch.use != Use::fetch && is_held(touch.space);
    });
  });
  return int(at - program.begin());
}

namespace {

/// Runs an instruction after all background copies, which may read what it changes.
void run_after_copies(Machine& machine, const Bound& bound) {
  order_after_copies(machine.stream());
  bound.instruction->kind->run(machine, bound);
}

/// Walks the program as the run will, keeping track of what is open where.
class Binder {
  struct Cell {
    std::byte* at = nullptr;
    bool open = false;
    bool add = false;  // the instruction at hand adds to it
  };

  const Model& model;
  const PlacementView& placement;
  std::byte* arena;
  const Now& now;
  CellTable<Cell> cells;
  const int change;             // the first of what a checkpoint holds
  std::vector<int> first_call;  // by position, once bound
  // Gradients of parameters that have had a contribution since their unit's was opened: the unit, and
  // their offset in its gradients.
  std::set<std::pair<int, std::int64_t>> given;
  std::map<std::uint32_t, LayerObject*> objects;  // by dropout site

 public:
  BoundProgram bound;

  Binder(const Model& m, const PlacementView& p, std::byte* a, const Now& n)
      : model(m),
        placement(p),
        arena(a),
        now(n),
        cells(m),
        change(first_change(m, p.program)),
        first_call(p.program.size(), -1) {
    bound.model = &m;
    bound.program = p.program;
    bound.loop = loop_of(p.program);
    if (bound.loop.end >= 0) --bound.loop.end;  // `end` itself runs once, after the loop
    bound.if_applied =
        int(std::ranges::find(p.program, true,
                              [](const Instruction& i) { return i.kind->if_applied; }) -
            p.program.begin());
    bound.communicates = communicates(p.program);
    reserve();
    walk(p.program, [&](int t, int iteration) { visit(t, iteration); });
    for (int e = 0; e < int(m.externals.size()); ++e)
      bound.inputs.push_back(cell(Space::input, e).at);
    for (int value : m.results) bound.results.push_back(cell(Space::value, value).at);
    collect_changing();
  }

 private:
  Cell& cell(Space space, int index) { return cells.at(space, index); }

  /// Bounds point into `calls`, so it must not move.
  void reserve() {
    std::size_t calls = 0;
    for (const Instruction& i : placement.program)
      for (int p = 0; p < phases; ++p)
        if (i.kind->phases & (1 << p)) calls += model.plan(i.what).phase[p].calls;
    bound.calls.reserve(calls);
    bound.instructions.resize(placement.program.size());
    bound.when_empty.resize(placement.program.size());
    bound.buffers.resize(placement.program.size());
  }

  void visit(int t, int iteration) {
    const Instruction& i = placement.program[t];
    TouchList list;
    i.kind->touch(model, i, list);
    WhenEmpty& empty = bound.when_empty[t];
    empty.skipped = !i.kind->traffic && std::ranges::any_of(list, [](Touch touch) {
      return follows_from_batch(touch.space);
    });
    for (const Touch& touch : list)
      if (open(touch, t) && touch.space == model.gradients())
        note_gradient(touch.index, iteration == 0 ? empty.first : empty.later);
    bool again = first_call[t] >= 0;
    if (!again) first_call[t] = int(bound.calls.size());
    Bound& b = bound.instructions[t];
    b.instruction = &i;
    // Instructions that depend on the decision wait for copies anyway (Stream::only_if).
    b.run = t == change && !i.kind->if_applied ? run_after_copies : i.kind->run;
    b.calls = bound.calls.data() + first_call[t];
    for (const Touch& touch : list)
      if (!b.value && touch.space == Space::value) b.value = cell(touch.space, touch.index).at;
    int call = first_call[t];
    for (int p = 0; p < phases; ++p)
      if (i.kind->phases & (1 << p)) bind_phase(i.what, Phase(p), call, again);
    b.count = call - first_call[t];
    bind_buffers(list, t);
    for (const Touch& touch : list)
      if (closes(touch.use)) close(touch);
  }

  /// Notes the addresses of the buffers that an instruction touches (Bound::at).
  void bind_buffers(const TouchList& list, int t) {
    std::vector<std::byte*>& at = bound.buffers[t];
    const bool again = !at.empty();
    at.resize(list.size());
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (!is_temporary(model, list[k].space)) continue;
      std::byte* const now_at = cells.of(list[k]).at;
      if (again && at[k] != now_at) throw Error("a buffer moves between micro-batches");
      at[k] = now_at;
    }
    bound.instructions[t].at = at.data();
  }
  void close(Touch touch) {
    cells.of(touch).open = false;
    if (touch.space != model.gradients()) return;
    std::erase_if(given, [&](const auto& gradient) { return gradient.first == touch.index; });
  }
  /// Returns whether it was closed.
  bool open(Touch touch, int t) {
    Cell& c = cells.of(touch);
    c.add = touch.use == Use::accumulate && c.open;
    if (!opens(touch.use, c.open)) return false;
    c.open = true;
    if (is_temporary(model, touch.space)) c.at = address(touch, t);
    return true;
  }
  void note_gradient(int unit, std::vector<WhenEmpty::Gradient>& to) {
    const std::int64_t bytes = model.sizes.of(Type::gradient);
    if (model.gradients() == Space::d_weights) {
      to.push_back({cell(Space::d_weights, unit).at, model.unit_elements(unit) * bytes});
      return;
    }
    const std::int64_t decayed = model.block(unit).decayed * bytes,
                       undecayed = model.block(unit).undecayed * bytes;
    std::byte* all = flat_address(placement, arena, Space::gradient);
    const ParameterOffsets& at = model.offsets[std::size_t(unit)];
    if (decayed > 0) to.push_back({all + at.decayed * bytes, decayed});
    if (undecayed > 0) to.push_back({all + at.undecayed * bytes, undecayed});
  }
  std::byte* address(Touch touch, int t) const {
    for (const Buffer& b : placement.buffers)
      if (b.opened_by == t && b.space == touch.space && b.index == touch.index)
        return arena + b.offset;
    throw Error("the plan has no buffer for what an instruction opens");
  }

  void bind_phase(int u, Phase p, int& call, bool again) {
    const Touches& phase = model.plan(u).at(p);
    for (const LayerCall& planned : model.layer_calls.subspan(phase.first_call, phase.calls)) {
      const Node& node = model.nodes[model.block(u).first_node + planned.node];
      BoundCall made{function_of(*node.layer, planned), bind_call(u, p, node, planned)};
      if (node.layer->unplanned) give_object(made.call, *node.layer, u, p, planned.node);
      if (again) {
        merge(bound.calls[call].call, made.call);
      } else {
        bound.calls.push_back(made);
      }
      ++call;
    }
  }

  static void (*function_of(const Layer& layer, const LayerCall& planned))(const Call&) {
    if (planned.extends) return layer.extend;
    return planned.backward ? layer.backward : layer.forward;
  }

  /// Gives a call the object that all calls of the same use in this program share.
  void give_object(Call& call, const Layer& layer, int u, Phase p, short node) {
    LayerObject*& object = objects[call.dropout_site];
    if (!object) {
      bound.objects.push_back(layer.object());
      object = bound.objects.back().get();
    }
    call.object = object;
    call.frozen = model.units[u].frozen;
    if (p == Phase::forward) {
      call.pass = comes_again(u, node) ? Pass::dropped : Pass::kept;
    } else {
      call.pass = p == Phase::evaluate ? Pass::alone : Pass::again;
    }
  }
  /// Whether forward of a node runs again before its backward: as a part of its unit, or alone
  /// inside the unit's backward.
  bool comes_again(int u, short node) const {
    const Touches& phase = model.plan(u).at(Phase::backward);
    return std::ranges::any_of(placement.program,
                               [&](const Instruction& i) {
                                 return i.what == u &&
                                        (i.kind->phases & calls_of(Phase::recompute)) != 0;
                               }) ||
           std::ranges::any_of(model.layer_calls.subspan(phase.first_call, phase.calls),
                               [&](const LayerCall& c) { return !c.backward && c.node == node; });
  }

  /// The second iteration may differ from the first in one thing: what was assigned is added to.
  static void merge(Call& first, const Call& second) {
    auto merge_operands = [](auto& a, const auto& b) {
      for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k].data != b[k].data) throw Error("a buffer moves between micro-batches");
        if (a[k].put == BoundOperand::assign && b[k].put == BoundOperand::add)
          a[k].put = BoundOperand::add_after_first;
      }
    };
    merge_operands(first.x, second.x);
    merge_operands(first.y, second.y);
    merge_operands(first.saved, second.saved);
    merge_operands(first.weights, second.weights);
    merge_operands(first.dx, second.dx);
    merge_operands(first.dy, second.dy);
    merge_operands(first.gradients, second.gradients);
  }

  void collect_changing() {
    for (BoundCall& made : bound.calls)
      made.call.each_array([&](auto& operands) {
        for (BoundOperand& operand : operands) {
          operand.update(now);
          if (operand.data &&
              (operand.rows_of_axis || operand.put == BoundOperand::add_after_first))
            bound.changing.push_back(&operand);
        }
      });
  }

  Call bind_call(int u, Phase p, const Node& node, const LayerCall& planned) {
    const Layer& layer = *node.layer;
    Call call;
    for (int k = 0; k < layer.inputs; ++k) {
      call.x[k] = operand(u, planned.x[k]);
      call.dx[k] = operand(u, planned.dx[k]);
      call.axis[k] = planned.axis[k];
    }
    for (int k = 0; k < layer.outputs; ++k) {
      call.y[k] = operand(u, planned.y[k]);
      call.dy[k] = operand(u, planned.dy[k]);
    }
    for (int k = 0; k < layer.saved_count; ++k) call.saved[k] = operand(u, planned.saved[k]);
    bind_parameters(call, u, p, node, planned.backward);
    call.scratch = operand(u, planned.scratch).data;
    call.cache = cache_of(u, node, planned.cache);
    call.now = &now;
    call.dropout_site = std::uint32_t(u) * 256 + std::uint32_t(planned.node);
    return call;
  }

  BoundCache cache_of(int u, const Node& node, const CachePlace& place) const {
    if (place.offset < 0) return {};
    std::byte* const all = flat_address(placement, arena, Space::cache);
    return {all + model.cache_before(u) + place.offset, place.rows, node.layer->cached.width,
            place.axis};
  }

  /// Decides for each parameter whether a call assigns or adds: a unit's gradient is open from the
  /// first contribution to any of its parameters, and a tied node may contribute to only one.
  void bind_parameters(Call& call, int u, Phase p, const Node& node, bool backward) {
    call.weights.resize(std::size_t(node.layer->param_count));
    call.gradients.resize(std::size_t(node.layer->param_count));
    for (int k = 0; k < node.layer->param_count; ++k) {
      if (node.layer->params[k].is_running) {
        call.weights[k] = running(u, p, node, k);
        continue;
      }
      const int owner = node.owns(k) ? u : model.units[u].tied;
      const bool stays = model.units[owner].frozen || node.fixes(k);
      const bool apart = stays && model.keeps_frozen_apart();
      call.weights[k] = parameter(apart ? Space::frozen : model.weights(), owner, node, k);
      if (!backward || stays) continue;
      call.gradients[k] = parameter(model.gradients(), owner, node, k);
      const std::int64_t part = node.layer->params[k].decays ? 0 : model.part_elements(owner, true);
      const bool first = given.insert({owner, part + model.offset_of(node, k)}).second;
      call.gradients[k].put = first ? BoundOperand::assign : BoundOperand::add;
    }
  }
  /// Running values for a phase: the step's, which forward changes; the kept ones, if the phase does
  /// not change any; or none, if forward has changed them already.
  BoundOperand running(int u, Phase p, const Node& node, int k) {
    BoundOperand resolved = parameter(Space::master, u, node, k);
    if (p == Phase::evaluate || !model.changes_running(u)) return resolved;
    if (p != Phase::forward) return {};
    const std::int64_t before =
        model.held_at(Space::master, model.master_elements() - model.running) *
        model.sizes.of(Type::master);
    const std::byte* masters = flat_address(placement, arena, Space::master);
    resolved.data = flat_address(placement, arena, Space::running) +
                    (static_cast<std::byte*>(resolved.data) - masters - before);
    return resolved;
  }
  BoundOperand parameter(Space space, int owner, const Node& node, int k) {
    const Param& p = node.layer->params[k];
    int bytes = model.sizes.of(type_of(model, space));
    std::byte* base = nullptr;
    std::int64_t offset = model.offset_of(node, k);
    if (is_persistent(model, space)) {
      base = flat_address(placement, arena, space);
      offset = model.held_at(space, model.offsets[owner].of(node, k) + offset);
    } else {
      base = cell(space, owner).at;
      offset += p.decays ? 0 : model.part_elements(owner, true);
    }
    BoundOperand resolved;
    resolved.data = base ? base + offset * bytes : nullptr;
    resolved.shape = {p.rows, p.columns};
    resolved.rows_of_axis = false;
    resolved.element_bytes = std::uint8_t(bytes);
    return resolved;
  }

  BoundOperand operand(int u, const Operand& planned) {
    BoundOperand resolved;
    resolved.shape.columns = planned.columns;
    resolved.element_bytes = planned.element_bytes;
    resolved.axis = planned.axis;
    resolved.put = planned.put == Operand::add ? BoundOperand::add : BoundOperand::assign;
    const Unit& unit = model.units[u];
    switch (planned.where) {
      case Operand::nowhere:
        break;
      case Operand::unit_input: {
        int in = unit.in[planned.index];
        resolved.data = in >= 0 ? cell(Space::value, in).at : cell(Space::input, -1 - in).at;
        break;
      }
      case Operand::unit_output:
        resolved.data = cell(Space::value, unit.first_value + planned.index).at;
        break;
      case Operand::d_input:
        if (int in = unit.in[planned.index]; in >= 0 && model.has_gradient(in)) {
          const Cell& c = cell(Space::d_value, in);
          resolved.data = c.at;
          if (planned.put == Operand::as_unit && c.add) resolved.put = BoundOperand::add;
        }
        break;
      case Operand::d_output:
        resolved.data = cell(Space::d_value, unit.first_value + planned.index).at;
        break;
      case Operand::saved:
        resolved.data = cell(Space::saved, u).at + planned.offset;
        break;
      case Operand::workspace:
        resolved.data = flat_address(placement, arena, Space::workspace) + planned.offset;
        break;
    }
    return resolved;
  }
};

}  // namespace

void BoundProgram::update(const Now& now) {
  std::array<int, axes> rows;
  for (int axis = 0; axis < axes; ++axis) rows[axis] = now.sequences[axis].rows();
  if (rows == updated_rows && (now.iteration == 0) == updated_first) return;
  updated_rows = rows;
  updated_first = now.iteration == 0;
  for (BoundOperand* operand : changing) operand->update(now);
}

BoundProgram bind(const Model& model, const PlacementView& placement, std::byte* arena,
                  const Now& now) {
  BoundProgram bound = std::move(Binder(model, placement, arena, now).bound);
  bound.guard = ArenaGuard(model, placement, arena);
  return bound;
}

}  // namespace sinter::detail

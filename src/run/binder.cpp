#include "run/binder.hpp"

#include <set>

#include "sinter/error.hpp"
#include "sinter/program/walk.hpp"

namespace sinter {

std::byte* flat_address(const Placement& placement, std::byte* arena, Space space) {
  for (const Buffer& b : placement.buffers)
    if (b.opened_by < 0 && b.space == space) return arena + b.offset;
  return nullptr;
}

namespace {

/// Walks the program as the run will, keeping track of what is open where.
class Binder {
  struct Cell {
    std::byte* at = nullptr;
    bool open = false, add = false;  // add: the instruction at hand adds to it
  };

  const Model& model;
  const Placement& placement;
  std::byte* arena;
  const Now& now;
  int numbers;
  std::vector<Cell> cells;
  std::vector<int> first_call;  // by position, once bound
  std::set<const void*> given;  // gradients of parameters that have a contribution

 public:
  BoundProgram bound;

  Binder(const Model& m, const Placement& p, std::byte* a, const Now& n)
      : model(m),
        placement(p),
        arena(a),
        now(n),
        numbers(std::max({m.count(), int(m.writers.size()), int(m.externals.size())})),
        cells((int(Space::region) + m.regions.size()) * numbers),
        first_call(p.program.size(), -1) {
    bound.model = &m;
    reserve();
    walk(p.program, [&](int t, int) { visit(t); });
    bound.after = std::max(bound.after, bound.body);
    for (int e = 0; e < int(m.externals.size()); ++e)
      bound.inputs.push_back(cell(Space::input, e).at);
    for (int value : m.results) bound.results.push_back(cell(Space::value, value).at);
    collect_changing();
  }

 private:
  Cell& cell(Space space, int index) { return cells[int(space) * numbers + index]; }

  /// Bounds point into `calls`, so it must not move.
  void reserve() {
    std::size_t calls = 0;
    for (const Instruction& i : placement.program)
      for (int p = 0; p < phases; ++p)
        if (i.kind->phases & (1 << p)) calls += model.plan(i.what).phase[p].steps;
    bound.calls.reserve(calls);
    bound.instructions.resize(placement.program.size());
  }

  void visit(int t) {
    const Instruction& i = placement.program[t];
    TouchList list;
    i.kind->touch(model, i, list);
    for (const Touch& touch : list) open(touch, t);
    bool again = first_call[t] >= 0;
    if (!again) first_call[t] = int(bound.calls.size());
    Bound& b = bound.instructions[t];
    b.instruction = &i;
    b.run = i.kind->run;
    b.calls = bound.calls.data() + first_call[t];
    for (const Touch& touch : list)
      if (!b.value && touch.space == Space::value) b.value = cell(touch.space, touch.index).at;
    int call = first_call[t];
    for (int p = 0; p < phases; ++p)
      if (i.kind->phases & (1 << p)) bind_phase(i.what, model.plan(i.what).phase[p], call, again);
    b.count = call - first_call[t];
    for (const Touch& touch : list)
      if (touch.use == Use::consume) cell(touch.space, touch.index).open = false;
    if (i.kind->role == Role::loop) bound.body = t + 1;
    if (i.kind->role == Role::end) bound.after = t;
  }

  void open(Touch touch, int t) {
    Cell& c = cell(touch.space, touch.index);
    c.add = touch.use == Use::accumulate && c.open;
    bool opens = touch.use == Use::write || touch.use == Use::fetch ||
                 (touch.use == Use::accumulate && !c.open);
    if (!opens) return;
    c.open = true;
    if (!is_persistent(model, touch.space)) c.at = address(touch, t);
  }
  std::byte* address(Touch touch, int t) const {
    for (const Buffer& b : placement.buffers)
      if (b.opened_by == t && b.space == touch.space && b.index == touch.index)
        return arena + b.offset;
    throw Error("Sinter: the plan has no buffer for what an instruction opens");
  }

  void bind_phase(int u, const Touches& phase, int& call, bool again) {
    for (const Step& step : model.steps.subspan(phase.first_step, phase.steps)) {
      const Node& node = model.nodes[model.block(u).first_node + step.node];
      BoundCall made{step.backward ? node.layer->backward : node.layer->forward,
                     bind_step(u, node, step)};
      if (again) {
        merge(bound.calls[call].call, made.call);
      } else {
        bound.calls.push_back(made);
      }
      ++call;
    }
  }

  /// The second iteration differs from the first in one thing: what was assigned is added to.
  static void merge(Call& first, const Call& second) {
    auto merge_slots = [](auto& a, const auto& b) {
      for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k].data != b[k].data) throw Error("Sinter: a buffer moves between micro-batches");
        if (a[k].put == Slot::assign && b[k].put == Slot::add) a[k].put = Slot::add_after_first;
      }
    };
    merge_slots(first.x, second.x);
    merge_slots(first.y, second.y);
    merge_slots(first.saved, second.saved);
    merge_slots(first.weights, second.weights);
    merge_slots(first.dx, second.dx);
    merge_slots(first.dy, second.dy);
    merge_slots(first.gradients, second.gradients);
  }

  void collect_changing() {
    for (BoundCall& made : bound.calls)
      made.call.each_array([&](auto& slots) {
        for (Slot& slot : slots) {
          slot.update(now);
          if (slot.data && (slot.rows_of_axis || slot.put == Slot::add_after_first))
            bound.changing.push_back(&slot);
        }
      });
  }

  Call bind_step(int u, const Node& node, const Step& step) {
    const Layer& layer = *node.layer;
    Call call;
    for (int k = 0; k < layer.inputs; ++k) {
      call.x[k] = operand(u, step.x[k]);
      call.dx[k] = operand(u, step.dx[k]);
      call.axis[k] = step.axis[k];
    }
    for (int k = 0; k < layer.outputs; ++k) {
      call.y[k] = operand(u, step.y[k]);
      call.dy[k] = operand(u, step.dy[k]);
    }
    for (int k = 0; k < layer.saved_count; ++k) call.saved[k] = operand(u, step.saved[k]);
    bind_parameters(call, node.tied ? model.units[u].tied : u, node, step.backward);
    call.scratch = operand(u, step.scratch).data;
    call.now = &now;
    call.place = std::uint32_t(u) * 256 + std::uint32_t(step.node);
    return call;
  }

  /// A group is open from the first contribution to any of its parameters (a tied layer may give to
  /// one of them alone), so whether a call assigns or adds is kept for each parameter.
  void bind_parameters(Call& call, int group, const Node& node, bool backward) {
    for (int k = 0; k < node.layer->param_count; ++k) {
      call.weights[k] = parameter(model.weights, group, node, k);
      if (!backward) continue;
      if (model.units[group].frozen) continue;
      call.gradients[k] = parameter(Space::gradient, group, node, k);
      bool first = given.insert(call.gradients[k].data).second;
      call.gradients[k].put = first ? Slot::assign : Slot::add;
    }
  }
  Slot parameter(Space space, int group, const Node& node, int k) {
    const Param& p = node.layer->params[k];
    int bytes = model.sizes.of(type_of(model, space));
    std::byte* base = nullptr;
    std::int64_t offset = node.offset[k];
    if (is_persistent(model, space)) {
      base = flat_address(placement, arena, space);
      offset += p.matrix ? model.groups[group].decayed : model.groups[group].undecayed;
    } else {
      base = cell(space, group).at;
      offset += p.matrix ? 0 : model.block(group).decayed;
    }
    Slot slot;
    slot.data = base ? base + offset * bytes : nullptr;
    slot.shape = {p.rows, p.columns};
    slot.rows_of_axis = false;
    slot.element_bytes = std::uint8_t(bytes);
    return slot;
  }

  Slot operand(int u, const Place& place) {
    Slot slot;
    slot.shape.columns = place.columns;
    slot.element_bytes = place.element_bytes;
    slot.axis = place.axis;
    slot.put = place.put == Place::add ? Slot::add : Slot::assign;
    const Unit& unit = model.units[u];
    switch (place.where) {
      case Place::nowhere:
        break;
      case Place::input: {
        int in = unit.in[place.index];
        slot.data = in >= 0 ? cell(Space::value, in).at : cell(Space::input, -1 - in).at;
        break;
      }
      case Place::output:
        slot.data = cell(Space::value, unit.first_value + place.index).at;
        break;
      case Place::d_input:
        if (int in = unit.in[place.index]; in >= 0 && model.has_gradient(in)) {
          const Cell& c = cell(Space::d_value, in);
          slot.data = c.at;
          if (place.put == Place::as_unit && c.add) slot.put = Slot::add;
        }
        break;
      case Place::d_output:
        slot.data = cell(Space::d_value, unit.first_value + place.index).at;
        break;
      case Place::saved:
        slot.data = cell(Space::saved, u).at + place.offset;
        break;
      case Place::workspace:
        slot.data = flat_address(placement, arena, Space::workspace) + place.offset;
        break;
    }
    return slot;
  }
};

}  // namespace

void BoundProgram::update(const Now& now) {
  std::array<int, axes> rows;
  for (int axis = 0; axis < axes; ++axis) rows[axis] = now.sequences[axis].rows();
  if (rows == updated_rows && (now.iteration == 0) == updated_first) return;
  updated_rows = rows;
  updated_first = now.iteration == 0;
  for (Slot* slot : changing) slot->update(now);
}

BoundProgram bind(const Model& model, const Placement& placement, std::byte* arena,
                  const Now& now) {
  return std::move(Binder(model, placement, arena, now).bound);
}

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// Plans the inside of a unit: writes the layer calls of its phases and lays out its workspace.
#pragma once
#include <optional>

#include "sinter/kernels/cached_attention.hpp"
#include "sinter/plan/arena.hpp"
#include "sinter/plan/saved.hpp"
#include "sinter/policy/slot_hooks.hpp"

namespace sinter::detail {

/// Plans a block in its constructor, and appends the block's layer calls to a list.
class UnitPlanner {
  Inside unit;
  Sizes sizes;
  std::vector<LayerCall>& out;
  Caching caching;

  // State of the phase being planned:
  Phase phase{};
  int first_call = 0;
  std::vector<char> recomputed;
  std::vector<std::array<Operand, max_fields>> own;  // by node
  std::vector<Extent> extents;                       // of the workspace
  std::vector<Operand> now;                          // by local: its value
  std::vector<Operand> gradient;                     // by local: its gradient so far

 public:
  UnitPlan plan;  ///< the result

  /// Recomputes layers that are `chosen` inside backward. A block that is not trained has only the
  /// phase evaluate, which continues texts if there is a cache.
  constexpr UnitPlanner(const Graph& graph, const Block& block, const Sizes& s,
                        bool (*chosen)(const Layer&), bool trained,
                        std::vector<LayerCall>& layer_calls, const Caching& cache = {})
      : unit{graph, block}, sizes(s), out(layer_calls), caching(cache) {
    int writer = unit.local(block.output[0]).writer;
    plan.loss = writer >= 0 && unit.node(writer).layer->loss;
    for (int n = 0; n < block.nodes; ++n) plan.unplanned |= unit.node(n).layer->unplanned;
    if (trained) {
      Kept kept(unit, sizes, chosen);
      plan.saved_bytes = kept.bytes;
      // What a layer saves outside of the arena has the lifetime of the saved block.
      if (plan.unplanned && kept.bytes == 0) plan.saved_bytes = aligned(1);
      for (Phase p : {Phase::forward, Phase::recompute, Phase::backward}) plan_phase(p, kept);
    }
    plan_phase(Phase::evaluate, Kept(unit));
  }

 private:
  constexpr void plan_phase(Phase p, const Kept& kept) {
    phase = p;
    recomputed = kept.recomputed;
    own = kept.own;
    now = kept.value;
    extents.clear();
    gradient.assign(unit.block.locals, {});
    first_call = int(out.size());
    if (p == Phase::forward || p == Phase::evaluate) {
      for (int n = 0; n < unit.block.nodes; ++n) {
        const std::int64_t cache = take_cache(n);
        if (p == Phase::forward && unit.node(n).layer->loss) continue;
        if (caching.only_first_axis && is_on_other_axis(n)) continue;
        forward(n);
        if (caching.slots > 0) extend(n, cache);
      }
    } else if (p == Phase::recompute) {
      refill_saved(kept);
    } else {
      for (int n = 0; n < unit.block.nodes; ++n)
        if (recomputed[n]) forward(n);
      for (int n = unit.block.nodes; n-- > 0;) backward(n);
    }
    finish();
  }

  /// True if all results of a node are on axis 1.
  constexpr bool is_on_other_axis(int n) const {
    return unit.local(unit.node(n).out).axis % token_axes == 1;
  }
  /// Takes a node's part of the cache. Returns its offset, or -1 if it has none.
  constexpr std::int64_t take_cache(int n) {
    const Cached& cached = unit.node(n).layer->cached;
    if (caching.slots == 0 || cached.width == 0) return -1;
    const std::int64_t at = plan.cache_bytes, rows = cache_rows(n);
    plan.cache_bytes += aligned(caching.slots * rows * cached.width * sizes.of(Type::compute));
    return at;
  }
  /// Rows of a slot of a node's part of the cache.
  constexpr int cache_rows(int n) const {
    const Cached& cached = unit.node(n).layer->cached;
    int rows = caching.rows[unit.local(unit.node(n).in[cached.operand]).axis];
    if (cached.window > 0) rows = std::min(rows, cached.window + caching.new_rows - 1);
    return (rows + kernel::cache_block - 1) / kernel::cache_block * kernel::cache_block;
  }
  /// Makes the layer call that was planned last one that continues texts.
  constexpr void extend(int n, std::int64_t cache) {
    const Node& node = unit.node(n);
    out.back().extends = node.layer->extends;
    if (cache < 0) return;
    const int axis = unit.local(node.in[node.layer->cached.operand]).axis;
    out.back().cache = {cache, cache_rows(n), std::uint8_t(axis)};
  }

  /// Plans the forward calls that fill the saved block again, without writing the unit's outputs.
  constexpr void refill_saved(const Kept& kept) {
    std::vector<char> run(unit.block.nodes, 0), read(unit.block.locals, 0);
    for (int n = unit.block.nodes; n-- > 0;) {
      const Node& node = unit.node(n);
      if (node.layer->loss) continue;
      run[n] = has_own(*node.layer) && !recomputed[n];
      for (int o = 0; o < node.layer->outputs; ++o)
        run[n] |= read[node.out + o] || kept.value[node.out + o].where == Operand::saved;
      if (!run[n]) continue;
      for (int i = 0; i < node.layer->inputs; ++i) read[node.in[i]] = true;
    }
    for (int k = 0; k < unit.block.outputs; ++k) now[unit.block.output[k]] = {};
    for (int n = 0; n < unit.block.nodes; ++n)
      if (run[n]) forward(n);
  }

  /// The position of the layer call being written.
  constexpr int time() const { return int(out.size()) - 1 - first_call; }
  constexpr Operand take(std::int64_t size) {
    extents.push_back({time(), time(), size});
    Operand operand;
    operand.where = Operand::workspace;
    operand.index = short(extents.size() - 1);
    return operand;
  }
  /// Notes that the layer call being written uses an operand, and gives it the shape of `like`.
  constexpr Operand use(Operand operand, const Local& like) {
    Touches& touches = plan.phase[int(phase)];
    if (operand.where == Operand::workspace) extents[operand.index].last = time();
    if (operand.where == Operand::unit_input) touches.input[operand.index] = true;
    if (operand.where == Operand::unit_output && phase == Phase::backward)
      touches.output[operand.index] = true;
    operand.axis = std::uint8_t(like.axis);
    operand.element_bytes = std::uint8_t(sizes.of(like.type));
    operand.columns = like.type == Type::index ? 1 : like.width;
    return operand;
  }
  constexpr void use_weights(const Node& n) {
    Touches& touches = plan.phase[int(phase)];
    if (n.borrowed > 0) touches.tied = true;
    for (int p = n.borrowed; p < n.layer->param_count; ++p)
      touches.weights |= !n.layer->params[p].is_running;
  }
  constexpr void use_scratch(const Node& n) {
    auto rows = [&](int operand) { return sizes.rows[unit.local(n.in[operand]).axis]; };
    std::int64_t elements = n.layer->scratch(rows(0), rows(n.layer->inputs > 1));
    if (elements > 0) out.back().scratch = take(aligned(elements * sizes.of(Type::statistic)));
  }

  constexpr void begin_call(bool is_backward, int n) {
    out.push_back({is_backward, short(n)});
    for (int i = 0; i < unit.node(n).layer->inputs; ++i)
      out.back().axis[i] = std::uint8_t(unit.local(unit.node(n).in[i]).axis);
  }
  constexpr void use_results(const Node& d) {
    for (int o = 0; o < d.layer->outputs; ++o) {
      Operand& operand = now[d.out + o];
      if (operand.where == Operand::nowhere) operand = take(sizes.tensor(unit.local(d.out + o)));
      out.back().y[o] = use(operand, unit.local(d.out + o));
    }
  }
  constexpr void forward(int n) {
    const Node& d = unit.node(n);
    begin_call(false, n);
    for (int i = 0; i < d.layer->inputs; ++i)
      out.back().x[i] = use(now[d.in[i]], unit.local(d.in[i]));
    use_results(d);
    for (int k = 0; k < d.layer->saved_count; ++k) {
      const Keep& keep = d.layer->saved[k];
      if (keep.kind != Keep::Kind::own) {
        // Some layers name an operand or result through `saved` in forward, too.
        out.back().saved[k] = use(now[referenced(d, keep)], unit.local(referenced(d, keep)));
        continue;
      }
      Local like = own_local(unit, d, keep);
      if (own[n][k].where == Operand::nowhere) own[n][k] = take(sizes.tensor(like));
      out.back().saved[k] = use(own[n][k], like);
    }
    use_weights(d);
    use_scratch(d);
  }

  constexpr void backward(int n) {
    const Node& d = unit.node(n);
    begin_call(true, n);
    for (int k = 0; k < d.layer->saved_count; ++k) {
      const Keep& keep = d.layer->saved[k];
      out.back().saved[k] = keep.kind == Keep::Kind::own
                                ? use(own[n][k], own_local(unit, d, keep))
                                : use(now[referenced(d, keep)], unit.local(referenced(d, keep)));
    }
    if (d.layer->loss) use_results(d);
    for (int o = 0; o < d.layer->outputs && !d.layer->loss; ++o) {
      int v = d.out + o;
      if (int k = unit.output(v); k >= 0) add_to_output_gradient(v, k);
      out.back().dy[o] = use(gradient[v], unit.local(v));
    }
    for (int i = 0; i < d.layer->inputs; ++i) {
      const Local& x = unit.local(d.in[i]);
      if (shares_gradient(d, i)) {
        gradient[d.in[i]] = gradient[d.out];
      } else if (d.layer->in[i] > 0) {
        out.back().dx[i] = use(gradient_of(d.in[i]), x);
        gradient[d.in[i]].put = Operand::add;
      } else {
        out.back().x[i] = use(now[d.in[i]], x);  // integer ids are always available
      }
    }
    if (d.layer->reads_weights_in_backward) use_weights(d);
    use_scratch(d);
  }
  /// True if the gradient of operand i may share the memory of the result's gradient. No other node
  /// may read the operand and add to its gradient, nor may that gradient have a place outside the
  /// unit.
  constexpr bool shares_gradient(const Node& d, int i) const {
    const int v = d.in[i];
    const Local &x = unit.local(v), &y = unit.local(d.out);
    if (!d.layer->passes_gradient || v < unit.block.inputs || unit.output(v) >= 0) return false;
    return x.axis == y.axis && x.width == y.width && x.type == y.type && readers_of(v) == 1;
  }
  constexpr int readers_of(int v) const {
    int readers = 0;
    for (int n = 0; n < unit.block.nodes; ++n)
      for (int i = 0; i < unit.node(n).layer->inputs; ++i) readers += unit.node(n).in[i] == v;
    return readers;
  }
  /// Places the gradient of a value that leaves the unit outside the unit; nodes inside that read
  /// the value have added to it there.
  constexpr void add_to_output_gradient(int v, int k) {
    if (gradient[v].where != Operand::nowhere) return;
    gradient[v].where = Operand::d_output;
    gradient[v].index = short(k);
  }
  constexpr Operand gradient_of(int v) {
    Operand& operand = gradient[v];
    if (operand.where != Operand::nowhere) return operand;
    if (v < unit.block.inputs) {
      operand.where = Operand::d_input;
      operand.put = Operand::as_unit;
      operand.index = short(v);
    } else if (int k = unit.output(v); k >= 0) {
      operand.where = Operand::d_output;
      operand.put = Operand::add;
      operand.index = short(k);
    } else {
      operand = take(sizes.tensor(unit.local(v)));
    }
    return operand;
  }

  /// Ends a phase: assigns addresses to the parts of the workspace that it uses.
  constexpr void finish() {
    Touches& touches = plan.phase[int(phase)];
    touches.first_call = first_call;
    touches.calls = int(out.size()) - first_call;
    touches.workspace = arrange(extents, touches.calls);
    for (int s = first_call; s < int(out.size()); ++s) {
      for (Operand& operand : out[s].x) resolve(operand);
      for (Operand& operand : out[s].dx) resolve(operand);
      for (Operand& operand : out[s].y) resolve(operand);
      for (Operand& operand : out[s].dy) resolve(operand);
      for (Operand& operand : out[s].saved) resolve(operand);
      resolve(out[s].scratch);
    }
  }
  constexpr void resolve(Operand& operand) const {
    if (operand.where == Operand::workspace) operand.offset = extents[operand.index].offset;
  }
};

/// What a memory policy recomputes inside units.
struct RecomputedInside {
  bool (*layer)(const Layer&);  ///< returns true if such a layer is recomputed
  /// Returns true if this copy of a repeated unit, counted from 0, recomputes nothing. If null,
  /// every copy recomputes.
  std::optional<bool (*)(int copy)> keeps_whole{};

  /// Number of plans of each block: one that recomputes and, with keeps_whole, one that does not.
  constexpr int plans_per_block() const { return keeps_whole ? 2 : 1; }
};

/// What the memory policy Memory recomputes inside units.
template <class Memory>
constexpr RecomputedInside recomputed_by() {
  return {Memory::recomputed_inside, hook::keeps_whole<Memory>};
}

/// Plans all blocks; then, if some copies recompute nothing, all blocks again without
/// recomputation.
constexpr std::vector<UnitPlan> plan_units(const Graph& graph, const Sizes& sizes,
                                           const RecomputedInside& inside, bool trained,
                                           std::vector<LayerCall>& layer_calls) {
  std::vector<UnitPlan> plans;
  plans.reserve(inside.plans_per_block() * graph.blocks.size());
  auto plan_blocks = [&](bool (*recomputed)(const Layer&)) {
    for (const Block& block : graph.blocks)
      plans.push_back(UnitPlanner(graph, block, sizes, recomputed, trained, layer_calls).plan);
  };
  plan_blocks(inside.layer);
  if (inside.keeps_whole) plan_blocks([](const Layer&) { return false; });
  return plans;
}

/// Gives each unit the number of its plan in the result of plan_units().
constexpr void choose_plans(Graph& graph, const RecomputedInside& inside) {
  std::vector<int> copies(graph.blocks.size(), 0);
  for (Unit& unit : graph.units) {
    unit.plan = unit.block;
    if (inside.keeps_whole && (*inside.keeps_whole)(copies[unit.block]++))
      unit.plan += int(graph.blocks.size());
  }
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// The instruction `update`, made of an optimizer's arithmetic. This folder holds the slot
// `optimizer`.
#pragma once
#include <cassert>

#include "sinter/comm/communicator.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/program/kinds.hpp"
#include "sinter/run/machine.hpp"

namespace sinter {

inline constexpr int max_regions = 4;  // maximum number of regions of one policy

/// A range of flat parameters that an optimizer treats alike. The element types are those of master
/// weights (M), gradients (G), the optimizer's state (S) and the copy of the weights (C).
template <class M, class G, class S, class C>
struct ParameterSpan {
  kernel::Stream& stream;  ///< the stream on which kernels run
  M* master;               ///< the weights to update
  const G* gradient;       ///< to multiply by decision->scale, then clamp to ± decision->limit
  // The optimizer's regions, in its order; empty for regions with a shape of their own.
  std::array<kernel::Flat<S>, max_regions> state;
  C* copy;  ///< receives the new weights; null if there is no copy or Optimizer::casts is not true
  std::int64_t size;     ///< number of parameters
  bool decayed;          ///< true if weight decay applies
  double learning_rate;  ///< learning rate of this step: the optimizer's own, times rate_factor
  double rate_factor;    ///< product of the factors of schedule, policies and parameter group
  std::int64_t step;     ///< number of applied updates, this one included
  const kernel::Decision* decision;  ///< in the device's memory: the bounds of gradients
};

/// One whole parameter, for an optimizer that is not elementwise.
template <class M, class G, class S, class C>
struct SpanOfParameter : ParameterSpan<M, G, S, C> {
  const Layer& layer;                            ///< the layer that has the parameter
  int number;                                    ///< the parameter's index in layer.params
  int rows, columns;                             ///< the parameter's shape
  std::array<Machine::Part, max_regions> parts;  ///< its state in the optimizer's regions
  std::byte* workspace;                          ///< memory of Optimizer::workspace() bytes

  /// The parameter's state in a region, null if it has none.
  /// requires  T is the element type with which the region was planned
  template <class T>
  T* part(int region) const {
    const Machine::Part& kept = parts[region];
    assert((!kept.data || kept.shape.element == element_of<T>) &&
           "Sinter: a region has elements of another type");
    return reinterpret_cast<T*>(kept.data);
  }
  /// The workspace as elements of type T.
  template <class T>
  T* scratch() const {
    return reinterpret_cast<T*>(workspace);
  }
};

/// An optimizer that updates whole parameters, one at a time.
template <class Optimizer>
concept ByParameter = requires { Optimizer::by_parameter; } && Optimizer::by_parameter;

/// True if layers read a copy of the weights that the optimizer writes as it updates the masters.
template <class Optimizer>
constexpr bool makes_copy(const Model& model) {
  if constexpr (requires { Optimizer::casts; }) return Optimizer::casts && model.keeps_copy();
  return false;
}

namespace touches {
/// Consumes gradients and updates masters, state and, if Optimizer casts, the copy of the weights. (Updater
/// relies on the order of the first three.)
template <class Optimizer>
constexpr void update(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, Use::consume, Space::gradient, out);
  each(model, i, Use::modify, model.masters(), out);
  for_each_region<Optimizer>(model, [&](int r) { each(model, i, Use::modify, region(r), out); });
  if (makes_copy<Optimizer>(model)) each(model, i, Use::write, Space::weights, out);
  decision(Use::read, out);
}
}  // namespace touches

namespace executes {

/// Runs one `update`: all of it, or this rank's part if ranks share it.
template <class Optimizer, class Precision>
class Updater {
  using M = typename Precision::master;
  using G = typename Precision::gradient;
  using S = StateOf<Precision>;
  using C = typename Precision::compute;

  Machine& machine;
  const Bound& bound;
  const Instruction& run = *bound.instruction;
  const Model& model = machine.model();
  const typename Optimizer::Options& options = machine.options<Optimizer>();
  std::array<int, max_regions> regions{};  // the optimizer's regions
  int region_count = 0;
  bool is_offloaded = false;  // true if its state is offloaded
  const bool masters_come = model.masters() == Space::fetched;
  // The masters of all units, if they stay in the arena.
  M* all_masters = nullptr;
  const G* const all_gradients = machine.flat<G>(Space::gradient).data;
  std::array<S*, max_regions> all_state{};

 public:
  Updater(Machine& m, const Bound& b) : machine(m), bound(b) {
    for_each_region<Optimizer>(model, [&](int r) { regions[region_count++] = r; });
    is_offloaded = region_count > 0 && model.is_offloaded(region(regions[0]));
    if (!masters_come) all_masters = machine.flat<M>(Space::master).data;
    for (int j = 0; j < region_count && !is_offloaded; ++j)
      if (!Optimizer::regions[j].shape) all_state[j] = machine.flat<S>(region(regions[j])).data;
  }
  /// Updates this rank's shards of each unit (Machine::shards()); ByParameter optimizers update the parameters that
  /// this rank owns. If Model::at_root, ranks other than the root update nothing.
  void update() const {
    if (model.at_root && machine.communicator().rank() != root_rank) return;
    if constexpr (ByParameter<Optimizer>) {
      for (int k = 0; k < run.count; ++k)
        for (const Parameter& p : machine.parameters_of(model.order[run.what + k]))
          if (!p.frozen && machine.owns(p)) one(p, k);
    } else if (is_offloaded || masters_come || model.shards > 1) {
      for (int k = 0; k < run.count; ++k) shards_of(k);
    } else if (run.count == int(model.order.size())) {
      flat({0, model.elements()});
    } else {
      for (bool decayed : {true, false}) flat(machine.flat_slice(run.what, run.count, decayed));
    }
  }

 private:
  /// Offsets from an element's index in the whole model to its index in a split space.
  struct Shift {
    std::int64_t masters = 0, gradients = 0, state = 0;
  };

  /// The temporary buffer of touch number j for unit number k of the run, or null.
  std::byte* fetched_at(int j, int k) const {
    return bound.at[std::size_t(j) * std::size_t(run.count) + std::size_t(k)];
  }
  std::byte* state_at(int j, int k) const { return fetched_at(2 + j, k); }
  /// The masters of unit number k, from element `first` on.
  M* masters(int k, std::int64_t first) const {
    return (masters_come ? reinterpret_cast<M*>(fetched_at(1, k)) : all_masters) + first;
  }
  /// Updates this rank's shards of unit number k of the run.
  void shards_of(int k) const {
    std::int64_t before = 0;  // elements of the unit's fetched shards so far
    for (const ShardSlice& part : machine.shards(run.what + k, 1)) {
      const std::int64_t held = part.held - part.first, fetched = before - part.first;
      const std::int64_t masters = model.splits(Space::master) ? held : 0;
      flat(part,
           {masters_come ? fetched : masters, model.splits(Space::gradient) ? held : 0,
            is_offloaded ? fetched : held},
           k);
      before += part.size;
    }
  }
  /// Calls Optimizer::update for each span within a slice of flat parameters. k: the slice's unit in
  /// the run; only needed for temporary buffers.
  void flat(FlatSlice slice, Shift shift = {}, int k = 0) const {
    for (const UniformSlice& alike : machine.uniform_slices()) {
      const std::int64_t first = std::max(slice.first, alike.first);
      const std::int64_t last = std::min(slice.first + slice.size, alike.first + alike.size);
      if (first < last)
        Optimizer::update(
            options, stretch({first, last - first}, alike.decayed, alike.learning_rate, shift, k));
    }
  }
  /// Calls Optimizer::update for a parameter of unit number k.
  void one(const Parameter& p, int k) const {
    const auto shift = [&](Space space) { return model.held_at(space, p.offset) - p.offset; };
    const Shift shifts{masters_come ? machine.place_in_unit(p) - p.offset : shift(Space::master),
                       shift(Space::gradient), region_count > 0 ? shift(region(regions[0])) : 0};
    SpanOfParameter<M, G, S, C> s{
        stretch({p.offset, p.size}, p.decayed, p.learning_rate, shifts, k),
        *p.layer,
        p.number,
        p.layer->params[p.number].rows,
        p.layer->params[p.number].columns,
        {},
        machine.workspace()};
    for (int j = 0; j < region_count; ++j) {
      const Space space = region(regions[j]);
      s.parts[j] =
          is_offloaded ? machine.part_of_unit(space, p, state_at(j, k)) : machine.part(space, p);
    }
    Optimizer::update(options, s);
  }
  ParameterSpan<M, G, S, C> stretch(FlatSlice slice, bool decayed, double rate, Shift shift,
                                    int k) const {
    ParameterSpan<M, G, S, C> s{
        machine.stream(),
        masters(k, slice.first + shift.masters),
        all_gradients + (slice.first + shift.gradients),
        {},
        makes_copy<Optimizer>(model) ? machine.flat<C>(Space::weights) + slice.first : nullptr,
        slice.size,
        decayed,
        machine.learning_rate() * rate,
        machine.rate_factor() * rate,
        machine.updates() + 1,
        machine.decision()};
    for (int j = 0; j < region_count; ++j)
      if (!Optimizer::regions[j].shape)
        s.state[j] = {state(j, k, slice.first + shift.state), slice.size};
    return s;
  }
  /// State number j of unit number k, from element `first` on.
  S* state(int j, int k, std::int64_t first) const {
    if (ByParameter<Optimizer> && is_offloaded) return nullptr;  // parts[j] is used instead
    return (is_offloaded ? reinterpret_cast<S*>(state_at(j, k)) : all_state[j]) + first;
  }
};

/// Updates a run of units by Optimizer::update.
template <class Optimizer, class Precision>
void update(Machine& machine, const Bound& bound) {
  Updater<Optimizer, Precision>(machine, bound).update();
}

/// Bytes of workspace that suffice for every parameter of a run of units, one at a time.
template <class Optimizer>
constexpr std::int64_t update_workspace(const Model& model, const Instruction& i) {
  std::int64_t most = 0;
  if constexpr (hook::HasWorkspace<Optimizer>)
    for (int k = i.what; k < i.what + i.count; ++k)
      for_each_parameter_of(model, model.order[std::size_t(k)], [&](int, int n, int p) {
        most = std::max(most, Optimizer::workspace(*model.nodes[std::size_t(n)].layer, p));
      });
  return most;
}

}  // namespace executes

/// The kind of the instruction that updates parameters by Optimizer::update.
template <class Optimizer, class Precision>
inline constexpr Kind update_kind{.name = "update",
                                  .touch = touches::update<Optimizer>,
                                  .run = executes::update<Optimizer, Precision>,
                                  .role = Role::update,
                                  .workspace = executes::update_workspace<Optimizer>,
                                  .if_applied = true,
                                  .by_shards = true};

}  // namespace sinter

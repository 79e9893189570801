// SPDX-License-Identifier: Apache-2.0
// The instruction `update`, made of an optimizer's arithmetic. This folder holds the slot
// `optimizer`.
#pragma once
#include <algorithm>
#include <cassert>
#include <initializer_list>

#include "sinter/kernels/optimizer.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/program/kinds.hpp"
#include "sinter/run/bound_units.hpp"

namespace sinter {

namespace detail {
/// One whole parameter, for an optimizer that is not elementwise.
template <class M, class G, class S, class C>
struct SpanOfParameter : ParameterSpan<M, G, S, C> {
  const Layer& layer;                                   ///< the layer that has the parameter
  int number;                                           ///< the parameter's index in layer.params
  int rows, columns;                                    ///< the parameter's shape
  std::array<ParameterStore::Part, max_regions> parts;  ///< its state in the optimizer's regions
  std::byte* workspace;                                 ///< memory of Optimizer::workspace() bytes

  /// The parameter's state in a region, null if it has none.
  /// requires  T is the element type with which the region was planned
  template <class T>
  T* part(int region) const {
    const ParameterStore::Part& kept = parts[region];
    assert((!kept.data || kept.shape.element == element_of<T>) &&
           "Sinter: a region has elements of another type");
    return reinterpret_cast<T*>(kept.data);
  }
  /// The parameter as a span for an elementwise kernel, with regions of elements S as its state.
  ParameterSpan<M, G, S, C> with_state(std::initializer_list<int> regions) const {
    ParameterSpan<M, G, S, C> span = *this;
    auto next = span.state.begin();
    for (const int region : regions) *next++ = {part<S>(region), span.size};
    return span;
  }
  /// The workspace as elements of type T.
  template <class T>
  T* scratch() const {
    return reinterpret_cast<T*>(workspace);
  }
};

/// True if layers read a copy of the weights that the optimizer writes as it updates the masters.
template <class Optimizer>
constexpr bool makes_copy(const Model& model) {
  return hook::casts<Optimizer> && model.keeps_copy();
}
}  // namespace detail

namespace touches {
/// States what `update` touches: it consumes gradients, and changes masters, state and, if
/// Optimizer casts, the copy of the weights. (Updater relies on the order of the first three.)
template <class Optimizer>
constexpr void update(const Model& model, const Instruction& i, TouchList& out) {
  each(model, i, Use::consume, Space::gradient, out);
  each(model, i, Use::modify, model.masters(), out);
  detail::for_each_region<Optimizer>(model,
                                     [&](int r) { each(model, i, Use::modify, region(r), out); });
  if (detail::makes_copy<Optimizer>(model)) each(model, i, Use::write, Space::weights, out);
  decision(Use::read, out);
}
}  // namespace touches

namespace detail {
namespace executes {

/// Runs one `update`: of all parameters of its units, or of this rank's shards if ranks share it.
template <class Optimizer, class Precision>
class Updater {
  using M = typename Precision::master;
  using G = typename Precision::gradient;
  using S = StateOf<Precision>;
  using C = typename Precision::compute;

  Machine& machine;
  const ParameterStore& store = machine.parameters();
  const Model& model = machine.model();
  const typename Optimizer::Options& options = machine.options<Optimizer>();
  const bool copies = makes_copy<Optimizer>(model);
  // The spaces that `update` touches: gradients, masters, the optimizer's regions, the copy.
  std::array<Space, 3 + max_regions> spaces{Space::gradient, Space::master};
  static constexpr int first_region = 2;
  int regions_end = first_region;

 public:
  explicit Updater(Machine& m) : machine(m) {
    for_each_region<Optimizer>(model, [&](int r) { spaces[regions_end++] = region(r); });
    spaces[regions_end] = Space::weights;
  }
  /// Updates the units of an instruction.
  void run(const Bound& bound) const {
    const std::span touched = std::span(spaces).first(std::size_t(regions_end + copies));
    BoundUnits::run(machine, bound).each_slice(touched, [&](const PlacedSlice& slice) {
      if constexpr (hook::by_parameter<Optimizer>) {
        for (const short unit : slice.units)
          for (const Parameter& p : store.of_unit(unit))
            if (!p.frozen && slice.has(p.offset)) one(p, slice);
      } else {
        for (const UniformSlice& alike : store.uniform_slices()) {
          const std::int64_t first = std::max(slice.first, alike.first);
          const std::int64_t last = std::min(slice.first + slice.size, alike.first + alike.size);
          if (first < last)
            Optimizer::update(
                options, span_of({first, last - first}, alike.decayed, alike.learning_rate, slice));
        }
      }
    });
  }

 private:
  /// Calls Optimizer::update for a parameter in a slice.
  void one(const Parameter& p, const PlacedSlice& slice) const {
    const Param& param = p.layer->params[p.number];
    SpanOfParameter<M, G, S, C> s{span_of({p.offset, p.size}, p.decayed, p.learning_rate, slice),
                                  *p.layer,
                                  p.number,
                                  param.rows,
                                  param.columns,
                                  {},
                                  machine.workspace()};
    for (int j = first_region; j < regions_end; ++j) {
      ParameterStore::Part& part = s.parts[j - first_region];
      std::byte* const unit = slice.here[j];  // where the unit's state begins, if it has shapes
      if (!has_shapes(j))
        part = {reinterpret_cast<std::byte*>(s.state[j - first_region].data),
                store.shape(spaces[j], p)};
      else
        part = unit ? store.part_of_unit(spaces[j], p, unit) : store.part(spaces[j], p);
    }
    Optimizer::update(options, s);
  }
  static constexpr bool any_has_shapes =
      std::ranges::any_of(Optimizer::regions, [](const Region& r) { return r.shape.has_value(); });
  bool has_shapes(int j) const {
    return any_has_shapes && model.region_of(spaces[j]).shape.has_value();
  }
  /// A part of a slice.
  ParameterSpan<M, G, S, C> span_of(FlatSlice part, bool decayed, double rate,
                                    const PlacedSlice& slice) const {
    const std::int64_t at = part.first - slice.first;
    ParameterSpan<M, G, S, C> s{machine.stream(),
                                slice.in<M>(1) + at,
                                slice.in<const G>(0) + at,
                                {},
                                copies ? slice.in<C>(regions_end) + at : nullptr,
                                part.size,
                                decayed,
                                machine.learning_rate() * rate,
                                machine.rate_factor() * rate,
                                machine.updates() + 1,
                                machine.decision()};
    for (int j = first_region; j < regions_end; ++j)
      if (!has_shapes(j)) s.state[j - first_region] = {slice.in<S>(j) + at, part.size};
    return s;
  }
};

/// Updates a run of units by Optimizer::update.
template <class Optimizer, class Precision>
void update(Machine& machine, const Bound& bound) {
  Updater<Optimizer, Precision>(machine).run(bound);
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
}  // namespace detail

}  // namespace sinter

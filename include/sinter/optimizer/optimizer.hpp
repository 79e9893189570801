// How an optimizer's arithmetic becomes the instruction `update`.
#pragma once
#include "../kinds.hpp"
#include "../run/machine.hpp"

namespace sinter {

inline constexpr int max_regions = 4;  // of one policy

/// One flat stretch of parameters, all decayed or all not. M: master, G: gradient, C: compute.
template <class M, class G, class C>
struct Stretch {
  kernel::Stream& stream;
  M* master;
  const G* gradient;
  std::array<M*, max_regions> state;  // the optimizer's regions, in its order
  C* copy;  // of the new weights; null where there is none, or Optimizer::casts is not true
  std::int64_t size;
  bool decayed;
  double learning_rate;   // of this step, with the schedule's factor
  double gradient_scale;  // to unscale and clip
  std::int64_t step;      // applied updates, this one included
};

/// Whether there is a copy of the weights, which the optimizer makes in the pass that makes them.
template <class Optimizer>
constexpr bool makes_copy(const Model& model) {
  if constexpr (requires { Optimizer::casts; })
    return Optimizer::casts && model.weights == Space::weights;
  return false;
}

namespace touches {
template <class Optimizer>
constexpr void update(const Model& model, const Instruction& i, TouchList& out) {
  range(model, i, Use::consume, Space::gradient, out);
  range(model, i, Use::modify, Space::master, out);
  for (int r = 0; r < int(model.regions.size()); ++r)
    if (model.regions[r].owner == &tag_of<Optimizer>) range(model, i, Use::modify, region(r), out);
  if (makes_copy<Optimizer>(model)) range(model, i, Use::write, Space::weights, out);
}
}  // namespace touches

namespace executes {
/// Advances a range of groups by Optimizer::update, unless the norm was not finite.
template <class Optimizer, class Precision>
void update(Machine& machine, const Bound& bound) {
  if (!machine.norm().finite) return;
  using M = typename Precision::master;
  using G = typename Precision::gradient;
  using C = typename Precision::compute;
  const bool copies = makes_copy<Optimizer>(machine.model());
  const Instruction& i = *bound.instruction;
  for (bool decayed : {true, false}) {
    FlatRange range = machine.flat_range(i.what, i.count, decayed);
    if (range.size == 0) continue;
    Stretch<M, G, C> stretch{machine.stream(),
                             machine.flat<M>(Space::master) + range.first,
                             machine.flat<G>(Space::gradient) + range.first,
                             {},
                             copies ? machine.flat<C>(Space::weights) + range.first : nullptr,
                             range.size,
                             decayed,
                             machine.learning_rate(),
                             machine.norm().scale,
                             machine.updates() + 1};
    int next = 0;
    for (int r = 0; r < int(machine.model().regions.size()); ++r)
      if (machine.model().regions[r].owner == &tag_of<Optimizer>)
        stretch.state[next++] = machine.flat<M>(region(r)) + range.first;
    Optimizer::update(machine.options<Optimizer>(), stretch);
  }
}
}  // namespace executes

template <class Optimizer, class Precision>
inline constexpr Kind update_kind{"update", touches::update<Optimizer>,
                                  executes::update<Optimizer, Precision>, Role::update};

}  // namespace sinter

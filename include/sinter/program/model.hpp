// SPDX-License-Identifier: Apache-2.0
// A traced model with the plans of its units, and the state that policies keep for its parameters.
#pragma once
#include <algorithm>
#include <optional>

#include "sinter/program/kind.hpp"

namespace sinter {

/// What a policy keeps of one parameter.
struct StateShape {
  Element element = Element::f32;
  int rows = 0, columns = 0;  ///< no rows where it keeps nothing
  constexpr std::int64_t size() const { return std::int64_t(rows) * columns; }
  constexpr std::int64_t bytes() const { return size() * bytes_of(element); }
};

/// State of a policy for each parameter. Without `shape` it has an element for each element of the
/// parameters, laid out as the master weights are.
struct Region {
  const char* name;             ///< of files and of `describe`, such as "exp_avg"
  Type type = Type::state;      ///< of the elements, without `shape`
  const void* owner = nullptr;  ///< tag_of the policy
  /// Gives what is kept of a layer's parameter with this number; the parts lie one after the other.
  std::optional<StateShape (*)(const Layer& layer, int parameter)> shape{};
  bool splits = false;  ///< whether ranks have their shards alone of it, see Model::shares()
  /// Whether it lives outside of the arena (Offload). What an update needs of it comes and goes, by unit.
  bool away = false;
};
/// Its address stands for a type.
template <class T>
inline constexpr char tag_of = 0;

/// Where the decayed and the undecayed parameters of a unit begin in flat buffers, and its running
/// values among the master weights, in elements.
struct ParameterOffsets {
  std::int64_t decayed = 0, undecayed = 0;  ///< in all flat buffers
  std::int64_t running = 0;                 ///< among the master weights
  /// Where the part begins that this parameter is in.
  constexpr std::int64_t of(const Param& param) const {
    return param.running ? running : param.matrix ? decayed : undecayed;
  }
};

/// So many elements of a unit's part, padded so that as many shards of it are equal, and begin at a
/// boundary.
constexpr std::int64_t whole_shards(std::int64_t elements, int shards) {
  const std::int64_t multiple = std::int64_t(parameter_alignment) * shards;
  return (elements + multiple - 1) / multiple * multiple;
}

/// A part of a flat buffer, in elements.
struct FlatSlice {
  std::int64_t first, size;  ///< the first element, and how many
  /// Whether an element is in it.
  constexpr bool has(std::int64_t element) const {
    return element >= first && element - first < size;
  }
};

/// What a rank works on of a unit's decayed or undecayed part: all of it or, where ranks share the update
/// (Model::shares_update), its shard, or one of those that it owns. `first` is its place in spaces that are
/// whole.
struct ShardSlice : FlatSlice {
  std::int64_t held;  ///< its place in spaces of which a rank holds its shards alone
  /// Its place in a space that is held so, or whole.
  std::int64_t at(bool split) const { return split ? held : first; }
};

/// A shard that is no equal part: a matrix, or all vectors of a unit together.
struct OwnedSlice : ShardSlice {
  int owner;  ///< the rank whose shard it is
};

/// The rank that updates alone, where one does (Model::at_root).
inline constexpr int root_rank = 0;

/// A traced graph with the plans of its units. Master weights, gradients and regions are flat: all
/// that is decayed comes first, then all that is not, both with the units in `order`. Behind these,
/// master weights and their copy also have the frozen units, and then the running values of the
/// others.
struct Model {
  std::span<const Node> nodes;
  std::span<const Local> locals;
  std::span<const Block> blocks;
  std::span<const Unit> units;
  std::span<const External> externals;
  std::span<const int> writers;            ///< the unit that returns each value
  std::span<const int> results;            ///< values that leave the model
  std::span<const UnitPlan> plans;         ///< of the blocks; then of the blocks kept whole, if any
  std::span<const LayerCall> layer_calls;  ///< of the plans
  /// The units whose parameters are trained, in the order in which their gradients become final.
  std::span<const short> order;
  std::span<const ParameterOffsets> offsets;  ///< by unit
  /// Where each parameter of each node begins within the part of its unit, see offset_of().
  std::span<const std::int64_t> parameter_offsets;
  std::span<const Region> regions;  ///< of all policies, in the order of their slots
  Sizes sizes;
  /// Where layers read weights: in a copy, or in the master weights themselves.
  Space weights = Space::master;
  /// Whether the copy of the weights lives through all steps. If not, that of a unit comes and goes, as
  /// instructions make it of the masters or fetch it from other ranks.
  bool keeps_weights = true;
  /// Where backward adds gradients of parameters: to those that the update uses, or to a unit's own of
  /// the micro-batch at hand, whose sums over the ranks are added to those.
  Space gradients = Space::gradient;
  /// Where masters of units that are trained are when something reads or changes them: in the masters that
  /// live through all steps, or in what has been fetched, as they live outside of the arena.
  Space masters = Space::master;
  std::int64_t decayed = 0, undecayed = 0, frozen = 0;  ///< elements in all
  std::int64_t running = 0;  ///< the same of running values that steps change
  /// Ranks over which what only the update needs is split. Of the decayed and of the undecayed part of
  /// each unit a rank has one of as many equal shards, in the order of the ranks; so parts are padded to
  /// multiples of it. At 1 nothing is split.
  int shards = 1;
  /// Where the optimizer takes parameters whole, shards are not equal: each of these is one rank's. In
  /// their order they are all that is trained. Empty where shards are equal.
  std::span<const OwnedSlice> owned;
  std::int64_t most_owned = 0;  ///< the most elements that a rank owns
  /// Whether root_rank alone updates: its shard of each part is all of it, and that of other ranks is empty,
  /// though they have room for all.
  bool at_root = false;

  constexpr int count() const { return int(units.size()); }
  constexpr const Block& block(int unit) const { return blocks[units[unit].block]; }
  constexpr const UnitPlan& plan(int unit) const { return plans[units[unit].plan]; }
  /// Where parameter number p of a node begins within its part of the unit that owns it, in elements.
  constexpr std::int64_t offset_of(const Node& node, int p) const {
    return parameter_offsets[std::size_t(node.first_offset + p)];
  }
  /// Where it begins in all flat buffers, if this unit owns it and has the node.
  constexpr std::int64_t place_of(int unit, const Node& node, int p) const {
    return offsets[std::size_t(unit)].of(node.layer->params[p]) + offset_of(node, p);
  }
  constexpr bool has_parameters(int unit) const { return block(unit).parameters > 0; }
  /// Elements of a unit's decayed or undecayed part, padded so that it can be split.
  constexpr std::int64_t part_elements(int unit, bool of_decayed) const {
    return whole_shards(of_decayed ? block(unit).decayed : block(unit).undecayed,
                        owned.empty() ? shards : 1);
  }
  /// The same of both, which lie one after the other where a unit's buffers come and go.
  constexpr std::int64_t unit_elements(int unit) const {
    return part_elements(unit, true) + part_elements(unit, false);
  }
  /// Elements of all that is trained, padding included.
  constexpr std::int64_t elements() const { return decayed + undecayed; }
  /// The same, and of frozen parameters and running values.
  constexpr std::int64_t master_elements() const { return elements() + frozen + running; }
  /// Whether each rank updates its shards alone.
  constexpr bool shares_update() const { return shards > 1 || at_root; }
  /// Whether of a flat space a rank has its shards alone as they should be, from step to step. Of the master
  /// weights these are the trained ones, if layers read a copy.
  constexpr bool shares(Space space) const {
    if (!shares_update()) return false;
    if (space == Space::fetched) return shares(Space::master);
    if (space == Space::gradient) return gradients == Space::d_weights;
    if (space >= Space::region) return regions[std::size_t(int(space) - int(Space::region))].splits;
    return space == Space::master && weights == Space::weights;
  }
  /// Whether it also has room for these alone: one after the other, in the order of the parts that they
  /// are of.
  constexpr bool splits(Space space) const { return shards > 1 && shares(space); }
  /// Whether what a space has of parameters that are trained lives outside of the arena (Region::away,
  /// Model::masters): instructions fetch that of a unit, and store it when it has changed.
  constexpr bool is_away(Space space) const {
    if (space == Space::master) return masters == Space::fetched;
    return space >= Space::region && regions[std::size_t(int(space) - int(Space::region))].away;
  }
  /// Whether any space's does.
  constexpr bool has_away() const {
    bool any = is_away(Space::master);
    for (const Region& region : regions) any = any || region.away;
    return any;
  }
  /// Whether a unit's parameters are among those that are trained. A model that only predicts knows it, too.
  /// requires  has_parameters(unit)
  constexpr bool is_trained(int unit) const {
    const ParameterOffsets& at = offsets[std::size_t(unit)];
    return (block(unit).decayed > 0 ? at.decayed : at.undecayed) < elements();
  }
  /// Elements of a space that is split for which each rank has room: those of its shards or, where ranks
  /// own other numbers of them, the most.
  constexpr std::int64_t held_elements() const {
    return owned.empty() ? elements() / shards : most_owned;
  }
  /// Elements that are trained, of which a rank has room for those of a space.
  constexpr std::int64_t held_elements(Space space) const {
    return splits(space) ? held_elements() : elements();
  }
  /// The part of all that is trained which that is.
  constexpr double share() const {
    return elements() == 0 ? 1 : double(held_elements()) / double(elements());
  }
  /// The slice that one rank owns, and has an element.
  /// requires  slices are owned, and the element is trained
  constexpr const OwnedSlice& owned_at(std::int64_t element) const {
    const OwnedSlice* slice = owned.data();  // by halves; compilers count each step
    for (std::size_t left = owned.size(); left > 1;) {
      const std::size_t half = left / 2;
      const bool behind = slice[half].first <= element;
      if (behind) slice += half;
      left = behind ? left - half : half;
    }
    return *slice;
  }
  /// Those of a unit's part.
  constexpr std::span<const OwnedSlice> owned_in(FlatSlice part) const {
    if (owned.empty() || part.size == 0) return {};
    const OwnedSlice *const begin = &owned_at(part.first), *end = begin;
    while (end != owned.data() + owned.size() && part.has(end->first)) ++end;
    return {begin, end};
  }
  /// Where a rank holds an element, or the end, of a flat space: in the arena, or outside of it.
  /// requires  if the space is split, it is the first one of a unit's part, not trained, or of what the
  ///           rank owns
  constexpr std::int64_t held_at(Space space, std::int64_t element) const {
    if (element >= elements()) {
      const bool are_elsewhere = space == Space::master && is_away(space);
      return element - elements() + (are_elsewhere ? 0 : held_elements(space));
    }
    if (!splits(space)) return element;
    if (owned.empty()) return element / shards;
    const OwnedSlice& slice = owned_at(element);
    return slice.held + element - slice.first;
  }
  /// The decayed or undecayed parameters of a unit.
  /// requires  it is trained; so do the next ones
  constexpr FlatSlice part(int unit, bool of_decayed) const {
    const ParameterOffsets& at = offsets[std::size_t(unit)];
    return {of_decayed ? at.decayed : at.undecayed, part_elements(unit, of_decayed)};
  }
  /// Where an element of a unit is where its buffers come and go.
  constexpr std::int64_t in_unit(int unit, std::int64_t element) const {
    const ParameterOffsets& at = offsets[std::size_t(unit)];
    return element < decayed ? element - at.decayed
                             : part_elements(unit, true) + element - at.undecayed;
  }
  /// Calls visit(ShardSlice) with each shard that a rank has of a unit's part. Some are empty.
  constexpr void each_shard(FlatSlice part, int rank, auto visit) const {
    if (owned.empty()) {
      const std::int64_t size = at_root && rank != root_rank ? 0 : part.size / shards;
      const std::int64_t before = shards > 1 ? rank * size : 0;
      return visit(ShardSlice{{part.first + before, size}, part.first / shards});
    }
    for (const OwnedSlice& slice : owned_in(part))
      if (slice.owner == rank) visit(static_cast<const ShardSlice&>(slice));
  }
  /// Calls visit(FlatSlice, owner) with each array of a unit's part that ranks exchange: all of it, of which
  /// each has a shard (and the owner is -1), or what one owns.
  constexpr void each_exchanged(FlatSlice part, auto visit) const {
    if (part.size == 0) return;
    if (owned.empty()) return visit(part, -1);
    const OwnedSlice* slice = &owned_at(part.first);
    for (std::int64_t left = part.size; left > 0; left -= slice++->size)
      visit(static_cast<const FlatSlice&>(*slice), slice->owner);
  }
  /// The decayed or undecayed parameters of a run of `count` units in `order`.
  constexpr FlatSlice slice(int first, int count, bool of_decayed) const {
    const auto begin = [&](int k) {
      if (k == int(order.size())) return of_decayed ? decayed : elements();
      const ParameterOffsets& at = offsets[std::size_t(order[std::size_t(k)])];
      return of_decayed ? at.decayed : at.undecayed;
    };
    return {begin(first), begin(first + count) - begin(first)};
  }
  /// Whether a step changes running values of a unit.
  constexpr bool changes_running(int unit) const {
    return block(unit).running > 0 && !units[unit].frozen;
  }
  /// Whether a layer takes memory that is not planned.
  constexpr bool unplanned() const {
    for (const UnitPlan& plan : plans)
      if (plan.unplanned) return true;
    return false;
  }
  /// Whether an input has the rows or the sequences of axis 1.
  constexpr bool has_second_axis() const {
    for (const External& input : externals)
      if (input.axis % token_axes == 1) return true;
    return false;
  }
  /// Whether the gradient of a value is needed.
  constexpr bool has_gradient(int value) const { return units[writers[value]].backward; }
  /// What a value of the model is inside the unit that makes it.
  constexpr const Local& local(int value) const {
    const Unit& unit = units[writers[value]];
    const Block& b = blocks[unit.block];
    return locals[b.first_local + b.output[value - unit.first_value]];
  }
};

/// Calls visit(r) with the number of each region of a policy, in its order.
template <class Policy>
constexpr void for_each_region(const Model& model, auto visit) {
  for (int r = 0; r < int(model.regions.size()); ++r)
    if (model.regions[r].owner == &tag_of<Policy>) visit(r);
}

}  // namespace sinter

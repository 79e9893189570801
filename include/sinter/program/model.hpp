// SPDX-License-Identifier: Apache-2.0
// A traced model with the plans of its units, and the state that policies keep for its parameters.
#pragma once
#include <algorithm>

#include "sinter/program/space_table.hpp"

namespace sinter {

namespace detail {
/// Where the decayed and the undecayed parameters of a unit begin in flat buffers, and its running
/// values and fixed parameters among the master weights, in elements.
struct ParameterOffsets {
  std::int64_t decayed = 0, undecayed = 0;  ///< where these begin, in all flat buffers
  std::int64_t running = 0;                 ///< where these begin, in the master weights
  std::int64_t fixed =
      0;  ///< where parameters begin that stay in a unit with trained ones, likewise
  /// Where the part begins that contains parameter p of a node. If the node borrows it, these are the
  /// offsets of the owner, whose parameters are all trained or all frozen.
  constexpr std::int64_t of(const Node& node, int p) const {
    const Param& param = node.layer->params[p];
    return param.is_running ? running : node.fixes(p) ? fixed : param.decays ? decayed : undecayed;
  }
};

/// `elements` of a unit's part, rounded up so that the part divides into `shards` equal, aligned
/// shards.
constexpr std::int64_t whole_shards(std::int64_t elements, int shards) {
  const std::int64_t multiple = std::int64_t(parameter_alignment) * shards;
  return (elements + multiple - 1) / multiple * multiple;
}

/// A part of a flat buffer, in elements.
struct FlatSlice {
  std::int64_t first, size;  ///< index of the first element, and number of elements
  /// True if the slice contains an element.
  constexpr bool has(std::int64_t element) const {
    return element >= first && element - first < size;
  }
};

/// The slice of a unit's decayed or undecayed part on which a rank works. It is the whole part or,
/// where ranks share the update (Model::shares_update), the rank's shard or one of its owned
/// slices. `first` is its place in whole spaces.
struct ShardSlice : FlatSlice {
  std::int64_t local;  ///< its place in spaces of which a rank stores only its shards
  /// The slice's place in a space: `local` if the space is split, else `first`.
  std::int64_t at(bool split) const { return split ? local : first; }
};

/// A shard that is not an equal part: a matrix, or all vectors of a unit together.
struct OwnedSlice : ShardSlice {
  int owner;  ///< the rank whose shard it is
};

/// The rank that does all updates if Model::at_root().
inline constexpr int root_rank = 0;
}  // namespace detail

/// A traced graph with the plans of its units. Master weights, gradients and regions are flat: first
/// all decayed parameters, then all undecayed ones, both with the units in `order`. In the master
/// weights and their copy the frozen units follow, with what stays in the other units, and then the
/// running values of these. With a space `frozen`, what stays is there instead.
struct Model {
  std::span<const detail::Node> nodes;          ///< Graph::nodes
  std::span<const detail::Local> locals;        ///< Graph::locals
  std::span<const detail::Block> blocks;        ///< Graph::blocks
  std::span<const detail::Unit> units;          ///< Graph::units
  std::span<const detail::External> externals;  ///< Graph::externals
  std::span<const int> writers;                 ///< the unit that returns each value
  std::span<const int> results;                 ///< values that leave the model
  std::span<const detail::UnitPlan> plans;  ///< plan of each block; then of each kept whole, if any
  std::span<const detail::LayerCall> layer_calls;  ///< layer calls of the plans
  /// The units whose parameters are trained, in the order in which their gradients become final.
  std::span<const short> order;
  std::span<const detail::ParameterOffsets> offsets;  ///< where each unit's parameters begin
  /// Where each parameter of each node begins within the part of its unit, see offset_of().
  std::span<const std::int64_t> parameter_offsets;
  std::span<const Region> regions;  ///< regions of all policies, in the order of their slots
  detail::Sizes sizes;              ///< rows and bytes of tensors
  detail::SpaceTable spaces = detail::space_table();    ///< where each space but regions lies
  std::int64_t decayed = 0, undecayed = 0, frozen = 0;  ///< elements of all units
  std::int64_t running = 0;  ///< elements of all running values that steps change
  /// Number of ranks over which what only the update needs is sharded; at 1 nothing is. The decayed
  /// and the undecayed part of each unit have this many equal shards, one for each rank in the
  /// order of the ranks. So parts are padded to multiples of it.
  int shards = 1;
  /// The slices that ranks own, if the optimizer takes parameters whole. They replace equal shards,
  /// and in their order cover all that is trained. Empty if shards are equal.
  std::span<const detail::OwnedSlice> owned;

  constexpr int count() const { return int(units.size()); }  ///< number of units
  /// The block of a unit.
  constexpr const detail::Block& block(int unit) const { return blocks[units[unit].block]; }
  /// The plan of a unit.
  constexpr const detail::UnitPlan& plan(int unit) const { return plans[units[unit].plan]; }
  /// Where parameter number p of a node begins within its part of its owner, a unit, in elements.
  constexpr std::int64_t offset_of(const detail::Node& node, int p) const {
    return parameter_offsets[std::size_t(node.first_offset + p)];
  }
  /// Where parameter number p of a node begins in all flat buffers, if this unit has the node and
  /// owns p.
  constexpr std::int64_t place_of(int unit, const detail::Node& node, int p) const {
    return offsets[std::size_t(unit)].of(node, p) + offset_of(node, p);
  }
  /// True if a unit has parameters.
  constexpr bool has_parameters(int unit) const { return block(unit).parameters > 0; }
  /// Elements of a unit's decayed or undecayed part, padded so that it can be split.
  constexpr std::int64_t part_elements(int unit, bool of_decayed) const {
    return detail::whole_shards(of_decayed ? block(unit).decayed : block(unit).undecayed,
                                owned.empty() ? shards : 1);
  }
  /// Elements of a unit's decayed and undecayed parts together, as temporary buffers hold them.
  constexpr std::int64_t unit_elements(int unit) const {
    return part_elements(unit, true) + part_elements(unit, false);
  }
  /// Elements of all that is trained, padding included.
  constexpr std::int64_t elements() const { return decayed + undecayed; }
  /// Elements of the master weights: of all trained and frozen parameters and running values.
  constexpr std::int64_t master_elements() const { return elements() + frozen + running; }
  /// The region that a space is.
  /// requires  space >= Space::region
  constexpr const Region& region_of(Space space) const {
    return regions[std::size_t(int(space) - int(Space::region))];
  }
  /// Where a space lies, and what a rank has of it.
  constexpr detail::SpaceRow row(Space space) const {
    return space < Space::region ? spaces[std::size_t(space)] : region_of(space).row;
  }
  /// True if the model has a space, which is no region.
  constexpr bool has(Space space) const {
    return spaces[std::size_t(space)].lies != detail::Lies::nowhere;
  }
  /// True if parameters that are not trained have no master weights: layers read them in `frozen`.
  constexpr bool keeps_frozen_apart() const { return has(Space::frozen); }
  /// The space in which layers read weights that are trained: a copy, or the master weights themselves.
  constexpr Space weights() const { return has(Space::weights) ? Space::weights : Space::master; }
  /// The space to which backward adds gradients of parameters: `gradient`, which the update uses,
  /// or `d_weights` of the current micro-batch, whose sums over the ranks are then added to
  /// `gradient`.
  constexpr Space gradients() const {
    return has(Space::d_weights) ? Space::d_weights : Space::gradient;
  }
  /// The space in which instructions read or change masters of trained units: `master`, or
  /// temporary copies.
  constexpr Space masters() const { return has(Space::fetched) ? Space::fetched : Space::master; }
  /// True if layers read a copy of the weights that lives through all steps.
  constexpr bool keeps_copy() const { return row(Space::weights).lies == detail::Lies::arena; }
  /// True if layers read a unit's temporary copy: instructions make it of the masters, or fetch it
  /// from other ranks.
  constexpr bool fetches_weights() const {
    return row(Space::weights).lies == detail::Lies::temporary;
  }
  /// What a rank has of spaces that only the update needs: `whole` if each rank updates all.
  constexpr detail::Holds shared() const {
    const detail::Holds gradients = row(Space::gradient).holds;
    return gradients == detail::Holds::current ? detail::Holds::shards : gradients;
  }
  /// True if each rank updates only its shards.
  constexpr bool shares_update() const { return shares(Space::gradient); }
  /// True if only root_rank updates: its shard of each part is the whole part. Other ranks' shards
  /// are empty.
  constexpr bool at_root() const { return row(Space::gradient).holds == detail::Holds::at_root; }
  /// True if, between steps, only this rank's shards of `space` are current.
  constexpr bool shares(Space space) const { return row(space).holds != detail::Holds::whole; }
  /// True if a rank stores only its shards of `space`, packed in the order of the parts.
  constexpr bool splits(Space space) const {
    return shards > 1 && row(space).holds == detail::Holds::shards;
  }
  /// True if trained parameters' elements of a space lie outside of the arena.
  constexpr bool is_offloaded(Space space) const {
    return row(space).lies == detail::Lies::offloaded;
  }
  /// True if any space lies outside of the arena.
  constexpr bool has_offload() const {
    return is_offloaded(Space::master) || std::ranges::any_of(regions, [](const Region& region) {
             return region.row.lies == detail::Lies::offloaded;
           });
  }
  /// True if a unit's parameters are trained. A model that only predicts has this information, too.
  /// requires  has_parameters(unit)
  constexpr bool is_trained(int unit) const {
    const detail::ParameterOffsets& at = offsets[std::size_t(unit)];
    return (block(unit).decayed > 0 ? at.decayed : at.undecayed) < elements();
  }
  /// Elements of a split space for which each rank has room: the size of its equal shards, or the
  /// maximum that a rank owns.
  constexpr std::int64_t held_elements() const {
    std::int64_t most = owned.empty() ? elements() / shards : 0;
    for (const detail::OwnedSlice& slice : owned) most = std::max(most, slice.local + slice.size);
    return most;
  }
  /// Trained elements of a space for which each rank has room.
  constexpr std::int64_t held_elements(Space space) const {
    return splits(space) ? held_elements() : elements();
  }
  /// The fraction of all trained elements that held_elements() is.
  constexpr double share() const {
    return elements() == 0 ? 1 : double(held_elements()) / double(elements());
  }
  /// The owned slice that contains an element.
  /// requires  slices are owned, and the element is trained
  constexpr const detail::OwnedSlice& owned_at(std::int64_t element) const {
    const detail::OwnedSlice* slice = owned.data();  // by halves; compilers count each step
    for (std::size_t left = owned.size(); left > 1;) {
      const std::size_t half = left / 2;
      const bool behind = slice[half].first <= element;
      if (behind) slice += half;
      left = behind ? left - half : half;
    }
    return *slice;
  }
  /// The owned slices of a unit's part; none if shards are equal.
  constexpr std::span<const detail::OwnedSlice> owned_in(detail::FlatSlice part) const {
    if (owned.empty() || part.size == 0) return {};
    const detail::OwnedSlice *const begin = &owned_at(part.first), *end = begin;
    while (end != owned.data() + owned.size() && part.has(end->first)) ++end;
    return {begin, end};
  }
  /// Where a rank stores an element, or the end, of a flat space, in the arena or outside of it.
  /// requires  if the space is split, the element begins a unit's part, is not trained, or is one
  ///           that the rank owns; the space has such an element
  constexpr std::int64_t held_at(Space space, std::int64_t element) const {
    if (space == Space::frozen) return element - elements();
    if (element >= elements()) {
      const bool are_elsewhere = space == Space::master && is_offloaded(space);
      const bool is_behind = element >= elements() + frozen;
      const std::int64_t apart = is_behind && keeps_frozen_apart() ? frozen : 0;
      return element - elements() - apart + (are_elsewhere ? 0 : held_elements(space));
    }
    if (!splits(space)) return element;
    if (owned.empty()) return element / shards;
    const detail::OwnedSlice& slice = owned_at(element);
    return slice.local + element - slice.first;
  }
  /// The slice of a unit's decayed or undecayed parameters.
  /// requires  the unit is trained
  constexpr detail::FlatSlice part(int unit, bool of_decayed) const {
    const detail::ParameterOffsets& at = offsets[std::size_t(unit)];
    return {of_decayed ? at.decayed : at.undecayed, part_elements(unit, of_decayed)};
  }
  /// Where an element of a trained unit is within the unit's temporary buffers.
  constexpr std::int64_t in_unit(int unit, std::int64_t element) const {
    const detail::ParameterOffsets& at = offsets[std::size_t(unit)];
    return element < decayed ? element - at.decayed
                             : part_elements(unit, true) + element - at.undecayed;
  }
  /// Calls visit(ShardSlice) with each shard that a rank has of a trained unit's part. Some are
  /// empty.
  constexpr void each_shard(detail::FlatSlice part, int rank, auto visit) const {
    if (owned.empty()) {
      const std::int64_t size = at_root() && rank != detail::root_rank ? 0 : part.size / shards;
      const std::int64_t before = shards > 1 ? rank * size : 0;
      return visit(detail::ShardSlice{{part.first + before, size}, part.first / shards});
    }
    for (const detail::OwnedSlice& slice : owned_in(part))
      if (slice.owner == rank) visit(static_cast<const detail::ShardSlice&>(slice));
  }
  /// Calls visit(FlatSlice, owner) with each array of a trained unit's part that ranks exchange:
  /// the whole part, with owner -1, if shards are equal; else each owned slice.
  constexpr void each_exchanged(detail::FlatSlice part, auto visit) const {
    if (part.size == 0) return;
    if (owned.empty()) return visit(part, -1);
    const detail::OwnedSlice* slice = &owned_at(part.first);
    for (std::int64_t left = part.size; left > 0; left -= slice++->size)
      visit(static_cast<const detail::FlatSlice&>(*slice), slice->owner);
  }
  /// The slice of the decayed or undecayed parameters of a run of `count` units in `order`.
  constexpr detail::FlatSlice slice(int first, int count, bool of_decayed) const {
    const auto begin = [&](int k) {
      if (k == int(order.size())) return of_decayed ? decayed : elements();
      const detail::ParameterOffsets& at = offsets[std::size_t(order[std::size_t(k)])];
      return of_decayed ? at.decayed : at.undecayed;
    };
    return {begin(first), begin(first + count) - begin(first)};
  }
  /// True if a step changes running values of a unit.
  constexpr bool changes_running(int unit) const {
    return block(unit).running > 0 && !units[unit].frozen;
  }
  /// Bytes of the key-value cache of the units before `unit`.
  constexpr std::int64_t cache_before(int unit) const {
    std::int64_t bytes = 0;
    for (int u = 0; u < unit; ++u) bytes += plan(u).cache_bytes;
    return bytes;
  }
  /// True if a layer takes memory that is not planned.
  constexpr bool unplanned() const {
    for (const detail::UnitPlan& plan : plans)
      if (plan.unplanned) return true;
    return false;
  }
  /// True if an input has the rows or the sequences of axis 1.
  constexpr bool has_second_axis() const {
    for (const detail::External& input : externals)
      if (input.axis % detail::token_axes == 1) return true;
    return false;
  }
  /// True if the gradient of a value is needed.
  constexpr bool has_gradient(int value) const { return units[writers[value]].backward; }
  /// The local that a value of the model is inside the unit that computes it.
  constexpr const detail::Local& local(int value) const {
    const detail::Unit& unit = units[writers[value]];
    const detail::Block& b = blocks[unit.block];
    return locals[b.first_local + b.output[value - unit.first_value]];
  }
};

namespace detail {
/// Calls visit(r) with the number of each region of a policy, in its order.
template <class Policy>
constexpr void for_each_region(const Model& model, auto visit) {
  for (int r = 0; r < int(model.regions.size()); ++r)
    if (model.regions[r].owner == &tag_of<Policy>) visit(r);
}
}  // namespace detail

}  // namespace sinter

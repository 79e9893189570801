// SPDX-License-Identifier: Apache-2.0
// The model of a recipe, as constants: its graph, where parameters lie, and the state of policies.
#pragma once
#include <numeric>

#include "sinter/layer/setting.hpp"
#include "sinter/plan/owners.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/policy/slot_hooks.hpp"
#include "sinter/recipe/traced_model.hpp"

namespace sinter::detail {

template <class R>
concept PredictsRows = requires(Tracer<SettingOf<R>>& tracer) { R::model::predict_rows(tracer); };

/// Rows of a micro-batch are padded to a multiple of this: the least common multiple of the
/// policies' `row_multiple`, or 1.
template <class R>
constexpr int row_multiple() {
  int multiple = 1;
  for_each_policy(typename R::all{},
                  [&]<class P>(P*) { multiple = std::lcm(multiple, hook::row_multiple<P>); });
  return multiple;
}

/// Number of ranks over which a recipe shards what only the update needs (Model::shards).
template <class R>
inline constexpr int shards_of = hook::shards<typename R::parallel>;
/// True if shards are whole parameters, each of one rank (Model::owned): the optimizer takes
/// parameters whole, and the parallel policy supports it.
template <class R>
constexpr bool has_owners() {
  return shards_of<R> > 1 && hook::owners<typename R::parallel> &&
         hook::by_parameter<typename R::optimizer>;
}
/// The part of a rank of the spaces that only the update needs (StateModes::shared).
template <class R>
constexpr Holds shared_of() {
  if (hook::at_root<typename R::parallel>) return Holds::at_root;
  return shards_of<R> > 1 ? Holds::shards : Holds::whole;
}
/// True if a policy of a recipe keeps the optimizer's state outside of the arena (Region::row).
template <class R>
constexpr bool offloads_state() {
  bool any = false;
  for_each_policy(typename R::all{}, [&]<class P>(P*) { any |= hook::offloads_state<P>; });
  return any;
}
/// True if a policy of a recipe keeps master weights outside of the arena; layers then read
/// temporary copies.
template <class R>
constexpr bool offloads_weights() {
  bool any = false;
  for_each_policy(typename R::all{}, [&]<class P>(P*) { any |= hook::offloads_weights<P>; });
  return any;
}
/// True if parameters of a recipe that are not trained have no master weights.
template <class R>
constexpr bool keeps_frozen_apart() {
  bool any = false;
  for_each_policy(typename R::all{},
                  [&]<hook::HasAdapter P>(P*) { any |= P::adapter::without_masters; });
  return any;
}
/// Where the policies of a recipe put its state.
template <class R, bool Copies>
constexpr StateModes state_modes() {
  using Parallel = typename R::parallel;
  const bool splits = shards_of<R> > 1;
  return {.copies = Copies,
          .fetches_weights = offloads_weights<R>() || (splits && hook::splits_weights<Parallel>),
          .offloads_masters = offloads_weights<R>(),
          .splits_gradients = splits && hook::splits_gradients<Parallel>,
          .frozen_apart = keeps_frozen_apart<R>(),
          .shared = shared_of<R>()};
}
/// True if regions of the policy P of the recipe R may be split over ranks, as P works on any slice
/// of them. True for every optimizer if one rank holds all state of a parameter and the others
/// none.
template <class P, class R>
constexpr bool works_on_shards() {
  if constexpr (!std::is_same_v<P, typename R::optimizer>) {
    return hook::by_shards<P>;
  } else {
    return shared_of<R>() == Holds::at_root || has_owners<R>() || !hook::by_parameter<P>;
  }
}

/// Maximum rows and sequences of a recipe's micro-batch.
template <class R>
constexpr BatchRows batch_rows() {
  return {R::batch::micro * R::data::context,
          R::batch::micro * hook::second_context<typename R::data>,
          R::batch::micro + (row_multiple<R>() > 1)};  // one sequence of padding
}

/// The model of the recipe R, traced, checked, planned and frozen. `Which` selects the graph.
template <class R, class Which>
struct Traced {
  using Precision = SettingOf<R>;
  using Shared = TracedModel<typename R::model, Precision, typename R::memory,
                             PoliciesThatNameParameters<typename R::all>, batch_rows<R>(), Which>;

  static constexpr const Sizes& sizes = Shared::sizes;
  static constexpr bool casts =
      !std::is_same_v<typename Precision::compute, typename Precision::master>;
  static constexpr RecomputedInside inside = Shared::inside;
  static constexpr int plans_per_block = Shared::plans_per_block;
  static constexpr const auto& count = Shared::count;
  static constexpr const auto& frozen = Shared::frozen;

  static constexpr int shards = shards_of<R>;
  static constexpr bool has_owners = detail::has_owners<R>();
  static constexpr int equal_shards = has_owners ? 1 : shards;

  /// Where the parameters of units begin in flat buffers, and the totals, in elements.
  struct Offsets {
    List<ParameterOffsets, count.units> of_unit;
    std::int64_t decayed = 0, undecayed = 0, frozen = 0, running = 0;
  };
  static constexpr Offsets place_parameters() {
    Offsets all;
    all.of_unit.count = count.units;
    auto& of_unit = all.of_unit.items;
    const auto& units = frozen.units.items;
    if constexpr (Which::trained) {
      const auto block_of = [](int u) -> const Block& {
        return frozen.blocks.items[units[u].block];
      };
      for (short g : frozen.order.view()) {
        of_unit[g] = {all.decayed, all.undecayed};
        all.decayed += whole_shards(block_of(g).decayed, equal_shards);
        all.undecayed += whole_shards(block_of(g).undecayed, equal_shards);
      }
      for (ParameterOffsets& unit : of_unit) unit.undecayed += all.decayed;
      for (int u = 0; u < count.units; ++u) {
        if (!units[u].frozen) continue;
        const Block& block = block_of(u);
        const std::int64_t at = all.decayed + all.undecayed + all.frozen;
        of_unit[u] = {at, at + block.decayed, at + block.decayed + block.undecayed};
        all.frozen += block.decayed + block.undecayed + block.running;
      }
      for (int u = 0; u < count.units; ++u) {
        if (units[u].frozen) continue;
        of_unit[u].fixed = all.decayed + all.undecayed + all.frozen;
        all.frozen += block_of(u).fixed;
      }
      for (int u = 0; u < count.units; ++u) {
        if (units[u].frozen) continue;
        of_unit[u].running = all.decayed + all.undecayed + all.frozen + all.running;
        all.running += block_of(u).running;
      }
    } else {  // offsets of the units of the same names in the training graph
      const auto& training = Traced<R, TrainingTrace>::offsets;
      all.decayed = training.decayed;
      all.undecayed = training.undecayed;
      all.frozen = training.frozen;
      all.running = training.running;
      for (int u = 0; u < count.units; ++u)
        if (int same = Shared::same_unit(units[u], u); same >= 0)
          of_unit[u] = training.of_unit.items[same];
    }
    return all;
  }
  static constexpr Offsets offsets = place_parameters();

  // ---- state of policies
  template <class P>
  static constexpr void add_regions(auto& list) {
    for (Region r : hook::regions<P>) {
      r.owner = &tag_of<P>;
      constexpr bool of_optimizer = std::is_same_v<P, typename R::optimizer>;
      constexpr Holds shared = works_on_shards<P, R>() ? shared_of<R>() : Holds::whole;
      const bool has_shards = shared != Holds::shards || !r.shape || (has_owners && of_optimizer);
      r.row = {of_optimizer && offloads_state<R>() ? Lies::offloaded : Lies::arena,
               has_shards ? shared : Holds::whole};
      list.items[list.count++] = r;
    }
  }
  template <class... Policies>
  static constexpr auto collect_regions(PolicyList<Policies...>) {
    List<Region, (int(hook::regions<Policies>.size()) + ... + 0)> list;
    (add_regions<Policies>(list), ...);
    return list;
  }
  static constexpr auto regions = collect_regions(typename R::all{});

  /// The model, with `owners` as the slices that ranks own.
  static constexpr Model model_of(std::span<const OwnedSlice> owners) {
    return {.nodes = frozen.nodes.view(),
            .locals = frozen.locals.view(),
            .blocks = frozen.blocks.view(),
            .units = frozen.units.view(),
            .externals = frozen.externals.view(),
            .writers = frozen.writers.view(),
            .results = frozen.results.view(),
            .plans = frozen.plans.view(),
            .layer_calls = frozen.layer_calls.view(),
            .order = frozen.order.view(),
            .offsets = offsets.of_unit.view(),
            .parameter_offsets = frozen.parameter_offsets.view(),
            .regions = regions.view(),
            .sizes = sizes,
            .spaces = space_table(state_modes<R, casts>()),
            .decayed = offsets.decayed,
            .undecayed = offsets.undecayed,
            .frozen = offsets.frozen,
            .running = offsets.running,
            .shards = shards,
            .owned = owners};
  }
  static constexpr int count_owned() {
    if constexpr (!has_owners) {
      return 0;
    } else if constexpr (!Which::trained) {
      return Traced<R, TrainingTrace>::owned_count;
    } else {
      return int(ownable_slices(model_of({})).size());
    }
  }
  static constexpr int owned_count = count_owned();
  /// The slices that ranks own, equal in all graphs of a model.
  struct Owned {
    List<OwnedSlice, owned_count> slices;
  };
  static constexpr Owned find_owners() {
    if constexpr (!has_owners) {
      return {};
    } else if constexpr (!Which::trained) {
      return {decltype(Owned::slices)(Traced<R, TrainingTrace>::owned.slices.view())};
    } else {
      return {decltype(Owned::slices)(owned_slices(model_of({}), shards))};
    }
  }
  static constexpr Owned owned = find_owners();
  static constexpr Model model = model_of(owned.slices.view());
};
}  // namespace sinter::detail

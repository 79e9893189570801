// SPDX-License-Identifier: Apache-2.0
// A model type, traced and planned unit by unit, frozen into constants.
#pragma once
#include <numeric>

#include "sinter/device/setting.hpp"
#include "sinter/graph/checks.hpp"
#include "sinter/graph/freezing.hpp"
#include "sinter/graph/parameters.hpp"
#include "sinter/graph/tracer.hpp"
#include "sinter/plan/owners.hpp"
#include "sinter/plan/unit_planner.hpp"
#include "sinter/recipe/claims.hpp"
#include "sinter/recipe/concepts.hpp"
#include "sinter/recipe/hooks.hpp"

namespace sinter {

/// A list that can outlive constant evaluation, as a vector cannot.
template <class T, int Capacity>
struct List {
  std::array<T, Capacity> items{};
  int count = 0;

  constexpr List() = default;
  constexpr explicit List(std::span<const T> from) : count(int(from.size())) {
    if (count > Capacity) throw "Sinter: a plan is larger than its bound";
    std::copy(from.begin(), from.end(), items.begin());
  }
  constexpr std::span<const T> view() const { return {items.data(), std::size_t(count)}; }
};

namespace detail {

/// Which of the graphs of a model is traced. They share parameters by the names of their units.
struct TrainingTrace {
  static constexpr bool trained = true;
  template <class Model>
  static constexpr void trace(auto& tracer) {
    Model::trace(tracer);
  }
};
struct PredictionTrace {
  static constexpr bool trained = false;
  template <class Model>
  static constexpr void trace(auto& tracer) {
    if constexpr (requires { Model::predict(tracer); }) Model::predict(tracer);
  }
};
/// Of a model that predicts at each position in another way.
struct RowPredictionTrace {
  static constexpr bool trained = false;
  template <class Model>
  static constexpr void trace(auto& tracer) {
    Model::predict_rows(tracer);
  }
};
template <class R>
concept PredictsRows = requires(Tracer<SettingOf<R>>& tracer) { R::model::predict_rows(tracer); };

/// The rows of a micro-batch are padded to a multiple of this, which policies ask for with
/// `row_multiple`.
template <class R>
constexpr int row_multiple() {
  int multiple = 1;
  for_each_policy(typename R::all{}, [&]<hook::HasRowMultiple P>(P*) {
    multiple = std::lcm(multiple, P::row_multiple);
  });
  return multiple;
}

/// The most rows of a sequence of axis 1.
template <class Data>
constexpr int second_context() {
  if constexpr (requires { Data::second_context; }) {
    return Data::second_context;
  } else {
    return Data::context;
  }
}

/// Over how many ranks a recipe splits what only the update needs (Model::shards).
template <class R>
constexpr int shards_of() {
  if constexpr (hook::HasShards<typename R::parallel>) {
    return R::parallel::shards;
  } else {
    return 1;
  }
}
/// Whether shards are whole parameters of one owner each (Model::owned): the optimizer takes them so, and the
/// policy that splits them knows it.
template <class R>
constexpr bool has_owners() {
  if constexpr (hook::HasOwners<typename R::parallel> &&
                hook::HasByParameter<typename R::optimizer>) {
    return shards_of<R>() > 1 && R::parallel::owners && R::optimizer::by_parameter;
  } else {
    return false;
  }
}
/// Whether one rank alone updates (Model::at_root).
template <class R>
constexpr bool updates_at_root() {
  if constexpr (hook::HasAtRoot<typename R::parallel>) {
    return R::parallel::at_root;
  } else {
    return false;
  }
}
/// Whether a rank then has its shards of the gradients alone.
template <class R>
constexpr bool splits_gradients() {
  if constexpr (hook::SplitsGradients<typename R::parallel>) {
    return shards_of<R>() > 1;
  } else {
    return false;
  }
}
/// Whether it then has its shards of the weights alone, so that those that layers read come and go.
template <class R>
constexpr bool splits_weights() {
  if constexpr (hook::SplitsWeights<typename R::parallel>) {
    return shards_of<R>() > 1;
  } else {
    return false;
  }
}
/// Whether a policy of a recipe keeps the optimizer's state outside of the arena (Region::away).
template <class R>
constexpr bool offloads_state() {
  bool any = false;
  for_each_policy(typename R::all{}, [&]<hook::OffloadsState P>(P*) { any = true; });
  return any;
}
/// Whether one keeps the masters there, so that weights that layers read come and go.
template <class R>
constexpr bool offloads_weights() {
  bool any = false;
  for_each_policy(typename R::all{}, [&]<hook::OffloadsWeights P>(P*) { any = true; });
  return any;
}
/// Whether weights that layers read are a copy that comes and goes (Model::keeps_weights).
template <class R>
constexpr bool fetches_weights() {
  return splits_weights<R>() || offloads_weights<R>();
}
/// Whether regions of the policy P of the recipe R may be split: it works on any slice of them. Where a rank
/// has all that is kept of a parameter and others nothing, each optimizer does.
template <class P, class R>
constexpr bool works_on_shards() {
  if constexpr (!std::is_same_v<P, typename R::optimizer>) {
    return hook::WorksOnShards<P>;
  } else if constexpr (updates_at_root<R>() || has_owners<R>()) {
    return true;
  } else if constexpr (hook::HasByParameter<P>) {
    return !P::by_parameter;
  } else {
    return true;
  }
}

/// The elements of a precision policy, by Type.
template <class Precision>
constexpr std::array<Element, types> elements_of() {
  return {element_of<typename Precision::compute>,  element_of<typename Precision::statistic>,
          element_of<typename Precision::gradient>, element_of<typename Precision::master>,
          element_of<StateOf<Precision>>,           Element::i32};
}

/// The model of the recipe R, traced, checked, planned and frozen. Which: one of the traces above.
template <class R, class Which>
struct Traced {
  using Precision = SettingOf<R>;
  using Memory = typename R::memory;

  static constexpr Sizes sizes = [] {
    constexpr int rows = R::batch::micro * R::data::context;
    constexpr int sequences = R::batch::micro + (row_multiple<R>() > 1);  // one of padding
    constexpr int second_rows = R::batch::micro * second_context<typename R::data>();
    Sizes s{{rows, second_rows, sequences, sequences}, {}, elements_of<Precision>()};
    for (int t = 0; t < types; ++t) s.bytes[t] = bytes_of(s.element[t]);
    return s;
  }();
  static constexpr bool casts =
      !std::is_same_v<typename Precision::compute, typename Precision::master>;

  static constexpr Graph trace() {
    Tracer<Precision> tracer;
    Which::template trace<typename R::model>(tracer);
    return tracer.graph;
  }
  /// Where nothing runs backward, nothing is kept or recomputed.
  static constexpr RecomputedInside inside =
      Which::trained ? recomputed_by<Memory>() : RecomputedInside{Memory::recomputed_inside};
  static constexpr int plans_per_block = inside.plans_per_block();

  struct Counts {
    int locals, nodes, blocks, units, externals, writers, results, offsets;
    Fault fault;
  };
  static constexpr Counts count_all() {
    Graph graph = trace();
    if (!graph.fault.what) resolve_ties(graph);
    if (!graph.fault.what) check_used(graph);
    if (!graph.fault.what) {
      if constexpr (Which::trained) {
        check_loss(graph);
        mark_frozen(graph, frozen_patterns(typename R::all{}));
        check_parameter_groups(graph, typename R::all{});
        if (!graph.fault.what && !graph.units[graph.writers[graph.results[0]]].backward)
          graph.fault.note_name("all parameters are frozen", "");
      } else {
        check_shared(graph);
      }
    }
    return {int(graph.locals.size()),  int(graph.nodes.size()),     int(graph.blocks.size()),
            int(graph.units.size()),   int(graph.externals.size()), int(graph.writers.size()),
            int(graph.results.size()), int(graph.offsets.size()),   graph.fault};
  }
  static constexpr Counts count = count_all();

  struct Frozen {
    List<Local, count.locals> locals;
    List<Node, count.nodes> nodes;
    List<Block, count.blocks> blocks;
    List<Unit, count.units> units;
    List<External, count.externals> externals;
    List<int, count.writers> writers;
    List<int, count.results> results;
    List<UnitPlan, plans_per_block * count.blocks> plans;
    // For each node one call in forward, recompute and evaluate, and up to two in backward.
    List<LayerCall, plans_per_block * 5 * count.nodes> layer_calls;
    List<short, count.units> order;
    List<ParameterOffsets, count.units> offsets;
    List<std::int64_t, count.offsets> parameter_offsets;
    std::int64_t decayed = 0, undecayed = 0, frozen = 0, running = 0;
  };
  static constexpr int shards = shards_of<R>();
  static constexpr bool has_owners = detail::has_owners<R>();
  static constexpr int equal_shards = has_owners ? 1 : shards;
  static constexpr bool at_root = updates_at_root<R>();
  static constexpr Space gradients = splits_gradients<R>() ? Space::d_weights : Space::gradient;
  static constexpr Frozen freeze() {
    Graph graph = trace();
    resolve_ties(graph);
    mark_frozen(graph, frozen_patterns(typename R::all{}));
    choose_plans(graph, inside);
    Frozen f;
    std::vector<LayerCall> layer_calls;
    layer_calls.reserve(plans_per_block * 5 * count.nodes);
    f.plans = decltype(f.plans)(plan_units(graph, sizes, inside, Which::trained, layer_calls));
    f.layer_calls = decltype(f.layer_calls)(layer_calls);
    f.locals = decltype(f.locals)(graph.locals);
    f.nodes = decltype(f.nodes)(graph.nodes);
    f.blocks = decltype(f.blocks)(graph.blocks);
    f.units = decltype(f.units)(graph.units);
    f.externals = decltype(f.externals)(graph.externals);
    f.writers = decltype(f.writers)(graph.writers);
    f.results = decltype(f.results)(graph.results);
    f.order = decltype(f.order)(finality(graph));
    f.parameter_offsets = decltype(f.parameter_offsets)(graph.offsets);
    f.offsets.count = count.units;
    if constexpr (Which::trained) {
      for (short g : f.order.view()) {
        const Block& block = graph.blocks[graph.units[g].block];
        f.offsets.items[g] = {f.decayed, f.undecayed};
        f.decayed += whole_shards(block.decayed, equal_shards);
        f.undecayed += whole_shards(block.undecayed, equal_shards);
      }
      for (ParameterOffsets& unit : f.offsets.items) unit.undecayed += f.decayed;
      for (int u = 0; u < count.units; ++u) {
        if (!graph.units[u].frozen) continue;
        const Block& block = graph.blocks[graph.units[u].block];
        const std::int64_t at = f.decayed + f.undecayed + f.frozen;
        f.offsets.items[u] = {at, at + block.decayed, at + block.decayed + block.undecayed};
        f.frozen += block.decayed + block.undecayed + block.running;
      }
      for (int u = 0; u < count.units; ++u) {
        if (graph.units[u].frozen) continue;
        f.offsets.items[u].running = f.decayed + f.undecayed + f.frozen + f.running;
        f.running += graph.blocks[graph.units[u].block].running;
      }
    } else {
      share_parameters(graph, f);
    }
    return f;
  }
  /// The unit of the same name in the training graph, or -1. Most have the same number, too.
  static constexpr int same_unit(const Graph& graph, int u) {
    const Model& training = Traced<R, TrainingTrace>::model;
    if (u < training.count() && same_name(graph.units[u], training.units[u])) return u;
    for (int t = 0; t < training.count(); ++t)
      if (same_name(graph.units[u], training.units[t])) return t;
    return -1;
  }
  /// Checks that predict() has the parameters of training and no others.
  static constexpr void check_shared(Graph& graph) {
    const Model& training = Traced<R, TrainingTrace>::model;
    for (int u = 0; u < int(graph.units.size()); ++u) {
      const Block& block = graph.blocks[graph.units[u].block];
      int same = same_unit(graph, u);
      if (same < 0 && (block.parameters || block.running))
        graph.fault.note("predict() has new parameters", graph.units[u].name, u);
      if (same >= 0 && (block.decayed != training.block(same).decayed ||
                        block.undecayed != training.block(same).undecayed ||
                        block.running != training.block(same).running))
        graph.fault.note("predict() changes the parameters", graph.units[u].name, u);
    }
  }
  /// Gives units the parameters of the units of the same names in the training graph.
  static constexpr void share_parameters(const Graph& graph, Frozen& f) {
    const Model& training = Traced<R, TrainingTrace>::model;
    f.decayed = training.decayed;
    f.undecayed = training.undecayed;
    f.frozen = training.frozen;
    f.running = training.running;
    for (int u = 0; u < int(graph.units.size()); ++u)
      if (int same = same_unit(graph, u); same >= 0) f.offsets.items[u] = training.offsets[same];
  }
  static constexpr Frozen frozen = freeze();

  // ---- state of policies
  template <class P>
  static constexpr int region_count() {
    if constexpr (hook::HasRegions<P>) {
      return int(P::regions.size());
    } else {
      return 0;
    }
  }
  template <class P>
  static constexpr void add_regions(auto& list) {
    if constexpr (hook::HasRegions<P>) {
      for (Region r : P::regions) {
        r.owner = &tag_of<P>;
        r.away = std::is_same_v<P, typename R::optimizer> && offloads_state<R>();
        const bool of_owners = has_owners && std::is_same_v<P, typename R::optimizer>;
        r.splits = (at_root || (shards > 1 && (!r.shape || of_owners))) && works_on_shards<P, R>();
        list.items[list.count++] = r;
      }
    }
  }
  template <class... Policies>
  static constexpr auto collect_regions(Claimants<Policies...>) {
    List<Region, (region_count<Policies>() + ... + 0)> list;
    (add_regions<Policies>(list), ...);
    return list;
  }
  static constexpr auto regions = collect_regions(typename R::all{});

  /// The model, with these slices that ranks own.
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
            .offsets = frozen.offsets.view(),
            .parameter_offsets = frozen.parameter_offsets.view(),
            .regions = regions.view(),
            .sizes = sizes,
            .weights = casts || fetches_weights<R>() ? Space::weights : Space::master,
            .keeps_weights = !fetches_weights<R>(),
            .gradients = gradients,
            .masters = offloads_weights<R>() ? Space::fetched : Space::master,
            .decayed = frozen.decayed,
            .undecayed = frozen.undecayed,
            .frozen = frozen.frozen,
            .running = frozen.running,
            .shards = shards,
            .owned = owners,
            .most_owned = most_owned(owners),
            .at_root = at_root};
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
  /// What ranks own, in all graphs of a model.
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

}  // namespace detail
}  // namespace sinter

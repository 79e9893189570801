// SPDX-License-Identifier: Apache-2.0
// A model type, traced, checked and planned unit by unit, frozen into constants. Its template
// parameters are all that these depend on, so recipes that differ otherwise share them.
#pragma once
#include "sinter/graph/checks.hpp"
#include "sinter/graph/tracer.hpp"
#include "sinter/plan/unit_planner.hpp"
#include "sinter/policy/claims.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/policy/hooks.hpp"
#include "sinter/recipe/adapting.hpp"
#include "sinter/recipe/freezing.hpp"
#include "sinter/recipe/parameters.hpp"

namespace sinter::detail {

/// A list of at most Capacity items, which, unlike a vector, can outlive constant evaluation.
template <class T, int Capacity>
struct List {
  std::array<T, Capacity> items{};  ///< the elements; the first `count` are in use
  int count = 0;                    ///< number of elements

  constexpr List() = default;
  constexpr explicit List(std::span<const T> from) { assign(from); }  ///< Copies elements.
  /// Replaces the elements. There must be room.
  constexpr void assign(std::span<const T> from) {
    count = int(from.size());
    if (count > Capacity) throw "Sinter: a plan is larger than its bound";
    std::copy(from.begin(), from.end(), items.begin());
  }
  /// The elements in use.
  constexpr std::span<const T> view() const { return {items.data(), std::size_t(count)}; }
};

/// Selects the training graph. The graphs of a model share parameters by the names of their units.
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
/// Selects the graph that predicts at each position, if the model has predict_rows().
struct RowPredictionTrace {
  static constexpr bool trained = false;
  template <class Model>
  static constexpr void trace(auto& tracer) {
    Model::predict_rows(tracer);
  }
};

/// The element types of a precision policy, by Type.
template <class Precision>
constexpr std::array<Element, types> elements_of() {
  return {element_of<typename Precision::compute>,  element_of<typename Precision::statistic>,
          element_of<typename Precision::gradient>, element_of<typename Precision::master>,
          element_of<StateOf<Precision>>,           Element::i32};
}

/// Maximum rows and sequences of a micro-batch.
struct BatchRows {
  int rows;         ///< rows of axis 0
  int second_rows;  ///< rows of axis 1
  int sequences;
};

/// True if P names parameters, so that the traced model depends on it.
template <class P>
struct NamesParameters
    : std::bool_constant<hook::HasFrozen<P> || hook::HasParameterGroups<P> || hook::HasAdapter<P>> {
};
template <class... Policies>
PoliciesThat<NamesParameters, Policies...> naming(PolicyList<Policies...>);
/// The policies of a list that name parameters.
template <class All>
using PoliciesThatNameParameters = decltype(naming(All{}));

/// One graph of a model, traced, checked and planned. `Which` selects it, such as TrainingTrace.
template <class ModelType, class Precision, class Memory, class Naming, BatchRows batch,
          class Which>
struct TracedModel {
  using Training = TracedModel<ModelType, Precision, Memory, Naming, batch, TrainingTrace>;

  static constexpr Sizes sizes = [] {
    Sizes s{{batch.rows, batch.second_rows, batch.sequences, batch.sequences},
            {},
            elements_of<Precision>()};
    for (int t = 0; t < types; ++t) s.bytes[t] = bytes_of(s.element[t]);
    return s;
  }();

  static constexpr Graph trace() {
    using Adapter = AdapterAmong<Naming>;
    Tracer<Precision, Adapter> tracer;
    Which::template trace<ModelType>(tracer);
    if constexpr (!std::is_same_v<Adapter, NoAdapter>)
      if (!tracer.graph.fault.what) adapt<Adapter>(tracer.graph, Which::trained);
    return tracer.graph;
  }
  /// What is recomputed inside units. Without a backward, nothing is kept or recomputed.
  static constexpr RecomputedInside inside =
      Which::trained ? recomputed_by<Memory>() : RecomputedInside{Memory::recomputed_inside};
  static constexpr int plans_per_block = inside.plans_per_block();

  /// Index of the unit of the same name in the training graph, or -1. Most have the same index,
  /// too.
  static constexpr int same_unit(const Unit& unit, int u) {
    const std::span<const Unit> training = Training::frozen.units.view();
    if (u < int(training.size()) && same_name(unit, training[u])) return u;
    for (int t = 0; t < int(training.size()); ++t)
      if (same_name(unit, training[t])) return t;
    return -1;
  }
  /// Checks that predict() has no parameters but those of training, with the same sizes.
  static constexpr void check_shared(Graph& graph) {
    for (int u = 0; u < int(graph.units.size()); ++u) {
      const Block& block = graph.blocks[graph.units[u].block];
      int same = same_unit(graph.units[u], u);
      if (same < 0) {
        if (block.parameters || block.running)
          graph.fault.note("predict() has new parameters", graph.units[u].name, u);
        continue;
      }
      const auto& training = Training::frozen;
      const Block& trained = training.blocks.items[training.units.items[same].block];
      if (block.decayed != trained.decayed || block.undecayed != trained.undecayed ||
          block.running != trained.running || block.fixed != trained.fixed)
        graph.fault.note("predict() changes the parameters", graph.units[u].name, u);
    }
  }

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
        mark_frozen(graph, frozen_patterns(Naming{}));
        check_parameter_groups(graph, Naming{});
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
    // Each node has one call in forward, recompute and evaluate, and at most two in backward.
    List<LayerCall, plans_per_block * 5 * count.nodes> layer_calls;
    List<short, count.units> order;
    List<std::int64_t, count.offsets> parameter_offsets;
  };
  static constexpr Frozen freeze() {
    Graph graph = trace();
    resolve_ties(graph);
    mark_frozen(graph, frozen_patterns(Naming{}));
    choose_plans(graph, inside);
    Frozen f;
    std::vector<LayerCall> layer_calls;
    layer_calls.reserve(plans_per_block * 5 * count.nodes);
    f.plans.assign(plan_units(graph, sizes, inside, Which::trained, layer_calls));
    f.layer_calls.assign(layer_calls);
    f.locals.assign(graph.locals);
    f.nodes.assign(graph.nodes);
    f.blocks.assign(graph.blocks);
    f.units.assign(graph.units);
    f.externals.assign(graph.externals);
    f.writers.assign(graph.writers);
    f.results.assign(graph.results);
    f.order.assign(finality(graph));
    f.parameter_offsets.assign(graph.offsets);
    return f;
  }
  static constexpr Frozen frozen = freeze();
};
}  // namespace sinter::detail

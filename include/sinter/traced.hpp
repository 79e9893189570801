// A model type, traced and planned unit by unit, frozen into constants.
#pragma once
#include <numeric>

#include "pattern.hpp"
#include "recipe.hpp"
#include "unit_planner.hpp"

namespace sinter {

/// A vector cannot outlive constant evaluation; this can.
template <class T, int Capacity>
struct List {
  std::array<T, Capacity> items{};
  int count = 0;

  constexpr List() = default;
  constexpr explicit List(const std::vector<T>& from) : count(int(from.size())) {
    if (count > Capacity) throw "Sinter: a plan is larger than its bound";
    std::copy(from.begin(), from.end(), items.begin());
  }
  constexpr std::span<const T> view() const { return {items.data(), std::size_t(count)}; }
};

namespace detail {

/// The two graphs of a model. They share parameters by the names of their units.
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

constexpr bool same_name(const Unit& a, const Unit& b) {
  return a.index == b.index && std::string_view(a.name) == b.name;
}

constexpr const Node* find_node(const Graph& graph, int unit, std::string_view name) {
  const Block& block = graph.blocks[graph.units[unit].block];
  for (int n = block.first_node; n < block.first_node + block.nodes; ++n)
    if (graph.nodes[n].name == name && !graph.nodes[n].tied) return &graph.nodes[n];
  return nullptr;
}

/// A tied node takes its owner's places in the owner's group.
constexpr void resolve_ties(Graph& graph) {
  for (int u = 0; u < int(graph.units.size()); ++u) {
    const Unit& unit = graph.units[u];
    const Block& block = graph.blocks[unit.block];
    for (int n = block.first_node; n < block.first_node + block.nodes; ++n) {
      Node& node = graph.nodes[n];
      if (!node.tied) continue;
      const Node* owner = unit.tied < 0 ? nullptr : find_node(graph, unit.tied, node.tied);
      if (!owner) return graph.fault.note("the layer tied to is not there", unit.name, u);
      for (int p = 0; p < node.layer->param_count; ++p)
        if (node.layer->params[p].size() != owner->layer->params[p].size() ||
            node.layer->params[p].padding > owner->layer->params[p].padding)
          return graph.fault.note("tied layers differ in size", unit.name, u);
      node.offset = owner->offset;
    }
  }
}

/// Whether the parameters of two layers of a unit have the same names.
constexpr bool same_parameters(const Node& a, const Node& b) {
  return a.layer->param_count && b.layer->param_count && !a.tied && !b.tied &&
         std::string_view(a.name) == b.name;
}

/// Every value must be used by somebody, or leave: in a unit, and between units. What leaves a unit
/// must be made in it, as a buffer of its own.
constexpr void check_inside(Graph& graph, const Unit& unit, int u) {
  const Block& block = graph.blocks[unit.block];
  auto wrong = [&](const char* what) { graph.fault.note(what, unit.name, u); };
  std::vector<int> used(block.locals, 0);
  for (int n = block.first_node; n < block.first_node + block.nodes; ++n)
    for (int i = 0; i < graph.nodes[n].layer->inputs; ++i) used[graph.nodes[n].in[i]] = 1;
  for (int v = 0; v < block.inputs; ++v)
    if (!used[v]) wrong("a unit takes what it does not use");
  for (int k = 0; k < block.outputs; ++k) {
    int& v = used[block.output[k]];
    if (block.output[k] < block.inputs) wrong("a unit returns what it was given");
    if (v == 2) wrong("a unit returns a value twice");
    v = 2;
  }
  for (int v : used)
    if (!v) wrong("a value in a unit is never used");
  for (int n = 0; n < block.nodes; ++n)
    for (int other = 0; other < n; ++other)
      if (same_parameters(graph.nodes[block.first_node + n], graph.nodes[block.first_node + other]))
        wrong("two layers of a unit have one name");
}
constexpr void check_used(Graph& graph) {
  std::vector<char> used(graph.writers.size(), 0), checked(graph.blocks.size(), 0);
  std::vector<int> distinct;  // the first unit of each block
  for (int u = 0; u < int(graph.units.size()); ++u) {
    const Unit& unit = graph.units[u];
    if (!checked[unit.block]) {
      check_inside(graph, unit, u);
      for (int other : distinct)
        if (*unit.name && same_name(unit, graph.units[other]))
          graph.fault.note("two units have one name", unit.name, u);
      distinct.push_back(u);
    }
    checked[unit.block] = true;
    for (int k = 0; k < graph.blocks[unit.block].inputs; ++k)
      if (unit.in[k] >= 0) used[unit.in[k]] = true;
  }
  for (int value : graph.results)
    if (value >= 0) used[value] = true;
  for (int v = 0; v < int(used.size()); ++v)
    if (!used[v])
      graph.fault.note("what a unit returns is never used", graph.units[graph.writers[v]].name,
                       graph.writers[v]);
}

/// What training gives is its loss.
constexpr void check_loss(Graph& graph) {
  if (graph.results.empty()) graph.fault.note("trace() has no g.result(loss)", "", -1);
  for (int value : graph.results) {
    if (value < 0) return graph.fault.note("the result of trace() is no loss", "", -1);
    int u = graph.writers[value];
    const Unit& unit = graph.units[u];
    const Block& block = graph.blocks[unit.block];
    int made = graph.locals[block.first_local + block.output[value - unit.first_value]].writer;
    if (made < 0 || !graph.nodes[block.first_node + made].layer->loss)
      graph.fault.note("the result of trace() is no loss", unit.name, u);
  }
}

/// The units with parameters, by the last backward that adds to their gradients: units run backward
/// from last to first, so it is that of the first unit that uses them.
constexpr std::vector<short> finality(const Graph& graph) {
  const int units = int(graph.units.size());
  std::vector<int> first(units, -1), head(units, -1), next(units, -1);  // lists by first user
  for (int u = units; u-- > 0;) {
    const Unit& unit = graph.units[u];
    if (graph.blocks[unit.block].parameters && !unit.frozen) first[u] = u;
    if (unit.tied >= 0 && !graph.units[unit.tied].frozen) first[unit.tied] = u;
  }
  for (int g = units; g-- > 0;) {
    if (first[g] < 0) continue;
    next[g] = head[first[g]];
    head[first[g]] = g;
  }
  std::vector<short> order;
  order.reserve(units);
  for (int u = units; u-- > 0;)
    for (int g = head[u]; g >= 0; g = next[g]) order.push_back(short(g));
  return order;
}

/// Calls visit with the name of each parameter of a unit.
constexpr void for_each_name(const Graph& graph, const Unit& unit, auto visit) {
  const Block& block = graph.blocks[unit.block];
  for (int n = block.first_node; n < block.first_node + block.nodes; ++n)
    for (int p = 0; p < graph.nodes[n].layer->param_count && !graph.nodes[n].tied; ++p)
      visit(parameter_letters(graph.nodes, block, unit, graph.nodes[n], p).view());
}
/// Which of some groups have a parameter that is trained: each is in the first that it matches.
constexpr std::vector<char> groups_in_use(const Graph& graph,
                                          std::span<const ParameterGroup> groups) {
  std::vector<char> used(groups.size(), 0);
  auto join = [&](std::string_view name) {
    for (std::size_t k = 0; k < groups.size(); ++k)
      if (matches(groups[k].pattern, name)) {
        used[k] = 1;
        return;
      }
  };
  for (const Unit& unit : graph.units)
    if (!unit.frozen) for_each_name(graph, unit, join);
  return used;
}

/// The patterns of what policies freeze.
constexpr std::vector<const char*> frozen_patterns(auto policies) {
  std::vector<const char*> patterns;
  for_each_policy(policies, [&]<class P>(P*) {
    if constexpr (requires { P::frozen; })
      patterns.insert(patterns.end(), P::frozen.begin(), P::frozen.end());
  });
  return patterns;
}

/// Marks the units that are frozen, as all of their parameters are, and those that need no backward
/// for it.
constexpr void mark_frozen(Graph& graph, const std::vector<const char*>& patterns) {
  std::vector<char> used(patterns.size(), 0);
  for (Unit& unit : graph.units) {
    const Block& block = graph.blocks[unit.block];
    int frozen = 0, all = 0;
    if (!patterns.empty())
      for_each_name(graph, unit, [&](std::string_view name) {
        bool any = false;
        for (std::size_t k = 0; k < patterns.size(); ++k)
          if (matches_part(patterns[k], name)) {
            any = true;
            used[k] = 1;
          }
        frozen += any;
        ++all;
      });
    unit.frozen = frozen > 0;
    if (frozen != 0 && frozen != all)
      graph.fault.note_name("a unit is frozen in part alone", unit.name);
    unit.backward =
        (block.parameters && !unit.frozen) || (unit.tied >= 0 && !graph.units[unit.tied].frozen);
    for (int k = 0; k < block.inputs; ++k)
      if (unit.in[k] >= 0) unit.backward |= graph.units[graph.writers[unit.in[k]]].backward;
  }
  for (std::size_t k = 0; k < patterns.size(); ++k)
    if (!used[k]) graph.fault.note_name("what is frozen is not there", patterns[k]);
}

/// Every parameter group is of some parameter.
constexpr void check_parameter_groups(Graph& graph, auto policies) {
  for_each_policy(policies, [&]<class P>(P*) {
    if constexpr (requires { P::parameter_groups; }) {
      const std::vector<char> used = groups_in_use(graph, P::parameter_groups);
      for (std::size_t k = 0; k < used.size(); ++k)
        if (!used[k])
          graph.fault.note_name("a parameter group is empty", P::parameter_groups[k].pattern);
    }
  });
}

/// Of which the rows of a micro-batch are a multiple: what policies ask for with `row_multiple`.
template <class R>
constexpr int row_multiple() {
  int multiple = 1;
  for_each_policy(typename R::all{}, [&]<class P>(P*) {
    if constexpr (requires { P::row_multiple; }) multiple = std::lcm(multiple, P::row_multiple);
  });
  return multiple;
}

/// By Type, but for sizes in rows.
template <class Precision>
constexpr std::array<Element, types> elements_of() {
  return {element_of<typename Precision::compute>,  element_of<typename Precision::statistic>,
          element_of<typename Precision::gradient>, element_of<typename Precision::master>,
          element_of<StateOf<Precision>>,           Element::i32};
}

template <class R, class Which>
struct Traced {
  using Precision = typename R::precision;
  using Memory = typename R::memory;

  static constexpr Sizes sizes = [] {
    constexpr int rows = R::batch::micro * R::data::context;
    constexpr int sequences = R::batch::micro + (row_multiple<R>() > 1);  // one of padding
    Sizes s{{rows, rows, sequences, sequences}, {}, elements_of<Precision>()};
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
  /// Where nothing runs backward, nothing is kept, and nothing recomputed.
  static constexpr RecomputedInside inside =
      Which::trained ? recomputed_by<Memory>() : RecomputedInside{Memory::recomputed_inside};
  static constexpr int plans_per_block = inside.plans_per_block();

  struct Counts {
    int locals, nodes, blocks, units, externals, writers, results;
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
    return {int(graph.locals.size()),    int(graph.nodes.size()),
            int(graph.blocks.size()),    int(graph.units.size()),
            int(graph.externals.size()), int(graph.writers.size()),
            int(graph.results.size()),   graph.fault};
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
    // Forward, recompute, evaluate; in backward up to two.
    List<Step, plans_per_block * 5 * count.nodes> steps;
    List<short, count.units> order;
    List<GroupPlace, count.units> groups;
    int decayed = 0, undecayed = 0, frozen = 0;
  };
  static constexpr Frozen freeze() {
    Graph graph = trace();
    resolve_ties(graph);
    mark_frozen(graph, frozen_patterns(typename R::all{}));
    choose_plans(graph, inside);
    Frozen f;
    std::vector<Step> steps;
    steps.reserve(plans_per_block * 5 * count.nodes);
    f.plans = decltype(f.plans)(plan_units(graph, sizes, inside, Which::trained, steps));
    f.steps = decltype(f.steps)(steps);
    f.locals = decltype(f.locals)(graph.locals);
    f.nodes = decltype(f.nodes)(graph.nodes);
    f.blocks = decltype(f.blocks)(graph.blocks);
    f.units = decltype(f.units)(graph.units);
    f.externals = decltype(f.externals)(graph.externals);
    f.writers = decltype(f.writers)(graph.writers);
    f.results = decltype(f.results)(graph.results);
    f.order = decltype(f.order)(finality(graph));
    f.groups.count = count.units;
    if constexpr (Which::trained) {
      for (short g : f.order.view()) {
        const Block& block = graph.blocks[graph.units[g].block];
        f.groups.items[g] = {f.decayed, f.undecayed};
        f.decayed += block.decayed;
        f.undecayed += block.undecayed;
      }
      for (GroupPlace& group : f.groups.items) group.undecayed += f.decayed;
      for (int u = 0; u < count.units; ++u) {
        if (!graph.units[u].frozen) continue;
        const Block& block = graph.blocks[graph.units[u].block];
        const int at = f.decayed + f.undecayed + f.frozen;
        f.groups.items[u] = {at, at + block.decayed};
        f.frozen += block.decayed + block.undecayed;
      }
    } else {
      share_parameters(graph, f);
    }
    return f;
  }
  /// The unit of the same name in training, or -1. Most have the same number, too.
  static constexpr int same_unit(const Graph& graph, int u) {
    const Model& training = Traced<R, TrainingTrace>::model;
    if (u < training.count() && same_name(graph.units[u], training.units[u])) return u;
    for (int t = 0; t < training.count(); ++t)
      if (same_name(graph.units[u], training.units[t])) return t;
    return -1;
  }
  static constexpr void check_shared(Graph& graph) {
    const Model& training = Traced<R, TrainingTrace>::model;
    for (int u = 0; u < int(graph.units.size()); ++u) {
      const Block& block = graph.blocks[graph.units[u].block];
      int same = same_unit(graph, u);
      if (same < 0 && block.parameters)
        graph.fault.note("predict() has new parameters", graph.units[u].name, u);
      if (same >= 0 && (block.decayed != training.block(same).decayed ||
                        block.undecayed != training.block(same).undecayed))
        graph.fault.note("predict() changes the parameters", graph.units[u].name, u);
    }
  }
  /// Groups lie where the training graph's units of the same names have theirs.
  static constexpr void share_parameters(const Graph& graph, Frozen& f) {
    const Model& training = Traced<R, TrainingTrace>::model;
    f.decayed = training.decayed;
    f.undecayed = training.undecayed;
    f.frozen = training.frozen;
    for (int u = 0; u < int(graph.units.size()); ++u)
      if (int same = same_unit(graph, u); same >= 0) f.groups.items[u] = training.groups[same];
  }
  static constexpr Frozen frozen = freeze();

  // ---- state of policies
  template <class P>
  static constexpr int region_count() {
    if constexpr (requires { P::regions; }) {
      return int(P::regions.size());
    } else {
      return 0;
    }
  }
  template <class P>
  static constexpr void add_regions(auto& list) {
    if constexpr (requires { P::regions; }) {
      for (Region r : P::regions) {
        r.owner = &tag_of<P>;
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

  static constexpr Model model{.nodes = frozen.nodes.view(),
                               .locals = frozen.locals.view(),
                               .blocks = frozen.blocks.view(),
                               .units = frozen.units.view(),
                               .externals = frozen.externals.view(),
                               .writers = frozen.writers.view(),
                               .results = frozen.results.view(),
                               .plans = frozen.plans.view(),
                               .steps = frozen.steps.view(),
                               .order = frozen.order.view(),
                               .groups = frozen.groups.view(),
                               .regions = regions.view(),
                               .sizes = sizes,
                               .weights = casts ? Space::weights : Space::master,
                               .keeps_weights = true,
                               .decayed = frozen.decayed,
                               .undecayed = frozen.undecayed,
                               .frozen = frozen.frozen};
};

}  // namespace detail
}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// From a model's type to its graph: the tracers that trace() and predict() of models and units
// take.
#pragma once
#include <algorithm>
#include <tuple>

#include "sinter/graph/diagnose.hpp"
#include "sinter/graph/graph.hpp"
#include "sinter/layer/members.hpp"

namespace sinter {

/// What a model's trace passes from one layer to the next: stands for a tensor of rows × Width. As
/// the width is in the type, a wrong one is a compile error at the line that passes it.
template <int Width>
struct Value {
  int id;    ///< number of the value, or -1 - number of the external input
  int axis;  ///< which set of sequences its rows follow
};
/// What a model's trace passes to a layer that takes integer ids: one in each row.
struct Ids {
  int id;    ///< number of the value, or -1 - number of the external input
  int axis;  ///< which set of sequences its rows follow
};
namespace detail {
/// Stands in for results of a unit that cannot be traced. It fits everywhere, so that one mistake
/// makes one error.
struct Unknown {
  int id = 0, axis = 0;  ///< as of Value
  /// Becomes a value of any width.
  template <int Width>
  constexpr operator Value<Width>() const {
    return {id, axis};
  }
};

template <class L, class P>
struct StoredLayer : std::type_identity<L> {};
template <class L, class P>
  requires requires { typename P::template Stored<L>; }
struct StoredLayer<L, P> : std::type_identity<typename P::template Stored<L>> {};
/// The layer that stands for L where it is compiled for P: L itself, or P::Stored<L>, which has the
/// same parameters in files and stores them in another way.
template <class L, class P>
using StoredLayerFor = typename StoredLayer<L, P>::type;

/// Stands for the adapters of a recipe without any.
struct NoAdapter {};
template <class P>
inline constexpr int element_bytes = int(sizeof(typename P::compute));
/// True if the layer L may have the adapters of a recipe.
template <class L, class P, class Adapter>
inline constexpr bool takes_adapter =
    requires { Adapter::template Of<L, element_bytes<P>>::params; };
/// The layer L with the adapters of a recipe, compiled for P; null if it has none.
template <class L, class P, class Adapter>
constexpr const Layer* adapted_layer() {
  if constexpr (takes_adapter<L, P, Adapter>) {
    return &erased<typename Adapter::template Of<L, element_bytes<P>>, P>;
  } else {
    return nullptr;
  }
}
/// The layer that stands for L where it stays as it is beside a recipe's adapters: that which P stores,
/// or else the adapter's.
template <class L, class P, class Adapter>
constexpr const Layer* frozen_layer() {
  using Stored = StoredLayerFor<L, P>;
  if constexpr (std::is_same_v<Adapter, NoAdapter> || !std::is_same_v<Stored, L>) {
    return &erased<Stored, P>;
  } else {
    return &erased<typename Adapter::template Frozen<L, element_bytes<P>>, P>;
  }
}

/// Traces the inside of a unit. P is the precision policy.
template <class P, class Adapter = NoAdapter>
class UnitTracer {
  Graph& graph;

 public:
  constexpr explicit UnitTracer(Graph& g) : graph(g) {}  ///< Traces into a graph.

  /// Adds a node for the layer L. Returns its results: a Value, or a tuple of Values.
  template <class L, class... V>
  constexpr auto operator()(const char* name, L, V... x) {
    if constexpr (is_layer<L>()) {
      return node<L>(name, nullptr, 0, x...);
    } else {
      return refuse<L>(name);
    }
  }
  /// Adds a node that borrows all parameters of the node `owner` in the unit that this one is tied
  /// to.
  template <class L, class... V>
  constexpr auto tied(const char* name, const char* owner, L, V... x) {
    if constexpr (is_layer<L>()) {
      return node<L>(name, owner, erased<StoredLayerFor<L, P>, P>.param_count, x...);
    } else {
      return refuse<L>(name);
    }
  }
  /// Adds a node that borrows only the first parameter, such as the weight of a head with its own
  /// bias.
  template <class L, class... V>
  constexpr auto tied_weight(const char* name, const char* owner, L, V... x) {
    if constexpr (is_layer<L>()) {
      return node<L>(name, owner, 1, x...);
    } else {
      return refuse<L>(name);
    }
  }

  /// Makes an input of the unit from a value outside it.
  template <int W>
  constexpr Value<W> enter(Value<W> x) {
    return {local(W, x.axis, Type::compute, -1), x.axis};
  }
  /// Makes an input of the unit from ids, or from an Unknown.
  constexpr Ids enter(Ids x) { return {local(0, x.axis, Type::index, -1), x.axis}; }
  /// Makes an input of the unit from an Unknown, which stands in for any type.
  constexpr Unknown enter(Unknown x) { return {local(1, x.axis, Type::compute, -1), x.axis}; }

 private:
  /// True if the members of L are those of a layer; otherwise also makes one compile error.
  template <class L>
  static constexpr bool is_layer() {
    constexpr detail::LayerFault fault = detail::layer_fault<L, P>();
    if constexpr (!fault.member.empty()) {
      (void)&a_layer_has_another_member<L, Text<fault.member.size() + 1>(fault.member),
                                        Text<fault.expected.size() + 1>(fault.expected)>;
      return false;
    } else {
      return true;
    }
  }
  /// Notes that L is no layer. Returns stand-ins for its results, with widths if they are known.
  template <class L>
  constexpr auto refuse(const char* name) {
    graph.fault.note("a layer is none", name, 0, true);
    if constexpr (detail::HasWidthsOut<L>) {
      return results<L>(0, 0, std::make_index_sequence<L::out.size()>());
    } else {
      return Unknown{};
    }
  }

  constexpr int local(int width, int axis, Type type, int writer) {
    graph.locals.push_back({width, axis, type, writer});
    return graph.blocks.back().locals++;
  }

  template <class L, int I, int W>
  static constexpr void check(Value<W>) {
    if constexpr (W != L::in[I]) (void)&two_layers_do_not_fit<L, W, L::in[I]>;
  }
  template <class L, int I>
  static constexpr void check(Ids) {
    if constexpr (L::in[I] != 0) (void)&two_layers_do_not_fit<L, 0, L::in[I]>;
  }
  template <class L, int I>
  static constexpr void check(Unknown) {}

  template <class L, class... V>
  constexpr auto node(const char* name, const char* tied, int borrowed, V... x) {
    if constexpr (!Differentiable<L, P>) (void)&layer_lacks_backward<L, P>;
    if constexpr (sizeof...(V) != L::in.size()) {
      (void)&layer_takes_other_inputs<L, sizeof...(V), L::in.size()>;
    } else {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (check<L, I>(x), ...);
      }(std::index_sequence_for<V...>());
    }
    constexpr const Layer* layer = &erased<StoredLayerFor<L, P>, P>;
    Block& block = graph.blocks.back();
    int axis = std::get<0>(std::tuple{x...}).axis, first = block.locals;
    if (layer->pools) axis = pooled(axis);
    Node made{.layer = layer,
              .name = name,
              .in = {x.id...},
              .out = first,
              .tied = tied,
              .borrowed = borrowed,
              .takes_adapter = takes_adapter<L, P, Adapter>,
              .adapted = adapted_layer<L, P, Adapter>(),
              .frozen_layer = frozen_layer<L, P, Adapter>()};
    made.first_offset = lay_out(graph, block, made);
    graph.nodes.push_back(made);
    for (int width : L::out) local(width, axis, layer->result_type(), block.nodes);
    ++block.nodes;
    return results<L>(first, axis, std::make_index_sequence<L::out.size()>());
  }
  template <class L, std::size_t... O>
  static constexpr auto results(int first, int axis, std::index_sequence<O...>) {
    if constexpr (sizeof...(O) == 1) {
      return Value<L::out[0]>{first, axis};
    } else {
      return std::tuple{Value<L::out[O]>{first + int(O), axis}...};
    }
  }
};

}  // namespace detail

/// What a model's trace() and predict() are called with: declares the inputs of the model, joins
/// units on them, and takes results. P is the precision policy.
///   static constexpr void trace(auto& g) {
///     auto x = g.unit("hidden", Hidden{}, g.template values<8>());
///     g.result(g.unit("loss", Loss{}, x, g.template target_values<1>()));
///   }
/// Adapter describes the adapters that the recipe's layers get.
template <class P, class Adapter = detail::NoAdapter>
class Tracer {
 public:
  detail::Graph graph;  ///< what has been traced so far

  /// An input of integer ids, one for each row.
  constexpr Ids tokens(int axis = 0) { return external<Ids>(axis, 0, false); }
  /// An input of the ids to predict, one for each row, below zero in rows without a label.
  constexpr Ids targets(int axis = 0) { return external<Ids>(axis, 0, true); }
  /// An input of numbers, W for each row. The input gets no gradient.
  template <int W>
  constexpr Value<W> values(int axis = 0) {
    return external<Value<W>>(axis, W, false);
  }
  /// An input of the numbers to predict, W for each row.
  template <int W>
  constexpr Value<W> target_values(int axis = 0) {
    return external<Value<W>>(axis, W, true);
  }

  /// Adds a unit. Returns its results: a Value, or a tuple of Values.
  template <class B, class... V>
  constexpr auto unit(const char* name, B block, V... x) {
    return numbered_unit(name, -1, block, x...);
  }
  /// Adds a unit that borrows parameters of the unit that made the value `owner`.
  template <class B, class Owner, class... V>
  constexpr auto tied_unit(const char* name, Owner owner, B block, V... x) {
    if constexpr (takes<B, V...>()) {
      auto inside = trace(block, x...);
      return stamp(name, -1, graph.fault.what ? -1 : graph.writers[owner.id], inside, x...);
    } else {
      return refuse_unit<B, V...>(name);
    }
  }
  /// Adds `count` units in a row. The first takes x, a Value or a tuple of Values; each later one
  /// takes the results of the unit before it in place of x. All of them take `more`, too.
  template <class B, class X, class... V>
  constexpr auto repeat(int count, const char* name, B block, X x, V... more) {
    return std::apply(
        [&](auto... first) {
          if constexpr (takes<B, decltype(first)..., V...>()) {
            return repeat_traced(count, name, trace(block, first..., more...), x, more...);
          } else {
            return refuse_unit<B, decltype(first)..., V...>(name);
          }
        },
        as_tuple(x));
  }
  /// Adds units as repeat() does, but the last one is `last` in place of a block, with a block's
  /// name and number; such as one that computes only those results that are read.
  template <class B, class Last, int W, class... V>
  constexpr auto repeat_with_last(int count, const char* name, B block, Last last, Value<W> x,
                                  V... more) {
    if constexpr (std::is_same_v<B, Last>) {
      return repeat(count, name, block, x, more...);
    } else {
      if (count > 1) x = repeat(count - 1, name, block, x, more...);
      return numbered_unit(name, count - 1, last, x, more...);
    }
  }
  /// Makes a value a result of the model: its loss, or its prediction.
  template <class V>
  constexpr void result(V x) {
    graph.results.push_back(x.id);
  }

 private:
  template <class V>
  constexpr V external(int axis, int width, bool targets) {
    graph.externals.push_back({axis, width, targets});
    return {-int(graph.externals.size()), axis};
  }
  template <int W>
  static constexpr std::tuple<Value<W>> as_tuple(Value<W> x) {
    return {x};
  }
  template <int... W>
  static constexpr std::tuple<Value<W>...> as_tuple(std::tuple<Value<W>...> x) {
    return x;
  }
  static constexpr std::tuple<detail::Unknown> as_tuple(detail::Unknown x) { return {x}; }

  /// True if a unit can be traced with these values.
  template <class B, class... V>
  static constexpr bool takes() {
    return requires(detail::UnitTracer<P, Adapter>& g, V... x) { B::trace(g, x...); };
  }
  template <class B, class... V>
  constexpr auto numbered_unit(const char* name, int number, B block, V... x) {
    if constexpr (takes<B, V...>()) {
      auto inside = trace(block, x...);
      return stamp(name, number, -1, inside, x...);
    } else {
      return refuse_unit<B, V...>(name);
    }
  }
  template <class B, class... V>
  constexpr detail::Unknown refuse_unit(const char* name) {
    if constexpr (!(std::is_same_v<V, detail::Unknown> || ...))
      (void)&detail::unit_does_not_take<B, V...>;
    graph.fault.note("a unit does not take the values joined to it", name, 0, true);
    return {};
  }

  template <class Inside, class X, class... V>
  constexpr auto repeat_traced(int count, const char* name, Inside inside, X x, V... more) {
    if constexpr (std::is_same_v<Inside, X>) {
      for (int i = 0; i < count; ++i)
        x = std::apply([&](auto... v) { return stamp(name, i, -1, inside, v..., more...); },
                       as_tuple(x));
      return x;
    } else {
      (void)&detail::repeated_unit_does_not_take_its_results<Inside, X>;
      graph.fault.note("a repeated unit does not take its own results", name, 0, true);
      return detail::Unknown{};
    }
  }

  template <class B, class... V>
  constexpr auto trace(B, V... x) {
    detail::Block block;
    block.first_node = int(graph.nodes.size());
    block.first_local = int(graph.locals.size());
    block.inputs = int(sizeof...(V));
    graph.blocks.push_back(block);
    detail::UnitTracer<P, Adapter> inside(graph);
    std::tuple inputs{inside.enter(x)...};  // braces: in the order written
    auto results =
        std::apply([&](auto... entered) { return B::trace(inside, entered...); }, inputs);
    std::apply(
        [&](auto... v) {
          detail::Block& made = graph.blocks.back();
          made.outputs = int(sizeof...(v));
          made.output = {v.id...};
        },
        as_tuple(results));
    return results;
  }
  /// Adds one more use of the block that was traced last; `inside` are its results, as locals.
  template <class Results, class... V>
  constexpr Results stamp(const char* name, int index, int tied, Results inside, V... x) {
    std::array ids{x.id...};
    std::sort(ids.begin(), ids.end());
    int unit = int(graph.units.size()), value = int(graph.writers.size());
    if (std::adjacent_find(ids.begin(), ids.end()) != ids.end())
      graph.fault.note("a unit takes the same value twice", name, unit);
    graph.units.push_back({name, index, int(graph.blocks.size()) - 1, {x.id...}, value, tied});
    auto out = as_tuple(inside);
    std::apply([&](auto&... v) { ((v.id = value++, graph.writers.push_back(unit)), ...); }, out);
    if constexpr (requires { inside.id; }) {
      return std::get<0>(out);
    } else {
      return out;
    }
  }
};

}  // namespace sinter

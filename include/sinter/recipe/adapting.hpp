// SPDX-License-Identifier: Apache-2.0
// Gives the layers of a traced graph the adapters of a policy, and freezes all else.
#pragma once
#include "sinter/graph/names.hpp"
#include "sinter/graph/tracer.hpp"
#include "sinter/policy/claims.hpp"
#include "sinter/policy/hooks.hpp"

namespace sinter::detail {

template <class... Policies>
struct FindAdapter : std::type_identity<NoAdapter> {};
template <class First, class... Rest>
struct FindAdapter<First, Rest...> : FindAdapter<Rest...> {};
template <hook::HasAdapter First, class... Rest>
struct FindAdapter<First, Rest...> : std::type_identity<typename First::adapter> {};
template <class... Policies>
typename FindAdapter<Policies...>::type adapter_among(PolicyList<Policies...>);
/// The adapter (hook::HasAdapter) of a list of policies, or NoAdapter.
template <class All>
using AdapterAmong = decltype(adapter_among(All{}));

/// Adapts a graph whose ties are not resolved yet.
class Adapting {
  using Patterns = std::span<const char* const>;
  /// What becomes of a node.
  enum class Fate : char { stays, adapted, trained };
  /// A block as some of its units need it.
  struct Variant {
    int original, block;
    std::vector<Fate> fates;  // by node
  };

  Graph& graph;
  const Patterns targets, saved;
  std::vector<char> used_targets, used_saved;
  std::vector<Variant> variants;

 public:
  constexpr Adapting(Graph& g, Patterns get_adapters, Patterns trained_whole)
      : graph(g),
        targets(get_adapters),
        saved(trained_whole),
        used_targets(targets.size(), 0),
        used_saved(saved.size(), 0) {}

  /// Adapts all units. Notes a fault for a target that is no linear layer.
  constexpr void all_units() {
    for (Unit& unit : graph.units) {
      std::vector<Fate> fates = fates_of(unit);
      const Block& block = graph.blocks[unit.block];
      unit.frozen = (block.parameters || block.running) &&
                    std::ranges::all_of(fates, [](Fate f) { return f == Fate::stays; });
      unit.block = block_with(unit.block, std::move(fates));
    }
    for (const Variant& variant : variants) apply(variant);
  }
  /// Notes a fault for a pattern that matches nothing, for units that cannot be frozen in part, and for
  /// what cannot be stored as the adapter says.
  template <class Adapter>
  constexpr void check() const {
    for (std::size_t k = 0; k < targets.size(); ++k)
      if (!used_targets[k]) graph.fault.note_name("what is to be adapted is not there", targets[k]);
    for (std::size_t k = 0; k < saved.size(); ++k)
      if (!used_saved[k]) graph.fault.note_name("what is to be trained is not there", saved[k]);
    for (const Unit& unit : graph.units) {
      if (unit.tied >= 0 && graph.blocks[graph.units[unit.tied].block].fixed > 0)
        graph.fault.note_name("a tied unit is trained in part", graph.units[unit.tied].name);
      const Block& block = graph.blocks[unit.block];
      bool unplanned = block.running > 0;
      for (int n = 0; n < block.nodes; ++n) unplanned |= node(block, n).layer->unplanned;
      const bool loses_masters = Adapter::without_masters && unit.frozen && block.running > 0;
      if ((block.fixed > 0 && unplanned) || loses_masters)
        graph.fault.note_name("running values beside an adapter", unit.name);
    }
    if (Adapter::in_int8 && !has_int8())
      graph.fault.note_name("no weight can be stored in int8", "");
  }

 private:
  constexpr const Node& node(const Block& block, int n) const {
    return graph.nodes[std::size_t(block.first_node + n)];
  }
  constexpr std::vector<Fate> fates_of(const Unit& unit) {
    const Block block = graph.blocks[unit.block];
    std::vector<Fate> fates(std::size_t(block.nodes), Fate::stays);
    TextBuilder name;
    if (*unit.name) (name += unit_letters(graph.nodes, block, unit).view()) += ".";
    const std::size_t prefix = name.view().size();
    for (int n = 0; n < block.nodes; ++n) {
      const char* own = node(block, n).name;
      name.cut(prefix);
      name += own;
      if (!*own && prefix) name.cut(prefix - 1);
      fates[std::size_t(n)] = fate_of(name.view(), node(block, n));
    }
    return fates;
  }
  /// The name is Hugging Face's, that of the layer's parameters up to the last dot.
  constexpr Fate fate_of(std::string_view name, const Node& n) {
    const bool owns = n.borrowed < n.layer->param_count;
    Fate fate = Fate::stays;
    for (std::size_t k = 0; k < targets.size(); ++k) {
      if (!matches(targets[k], name)) continue;
      used_targets[k] = 1;
      if (!n.takes_adapter || n.tied) {
        graph.fault.note_name("what is adapted is no linear layer", targets[k]);
        return Fate::stays;
      }
      fate = Fate::adapted;
    }
    for (std::size_t k = 0; k < saved.size(); ++k) {
      if (!owns || !matches_part(saved[k], name)) continue;
      used_saved[k] = 1;
      fate = Fate::trained;
    }
    return fate;
  }
  /// Returns the index of a block that is like the original, for units of these fates.
  constexpr int block_with(int original, std::vector<Fate> fates) {
    bool is_first = true;
    for (const Variant& variant : variants) {
      if (variant.original != original) continue;
      if (variant.fates == fates) return variant.block;
      is_first = false;
    }
    const int block = is_first ? original : copy_of(original);
    variants.push_back({original, block, std::move(fates)});
    return block;
  }
  constexpr int copy_of(int original) {
    Block copy = graph.blocks[original];
    const int first_node = copy.first_node, first_local = copy.first_local;
    copy.first_node = int(graph.nodes.size());
    copy.first_local = int(graph.locals.size());
    for (int n = 0; n < copy.nodes; ++n) {
      const Node same = graph.nodes[first_node + n];
      graph.nodes.push_back(same);
    }
    for (int v = 0; v < copy.locals; ++v) {
      const Local same = graph.locals[first_local + v];
      graph.locals.push_back(same);
    }
    graph.blocks.push_back(copy);
    return int(graph.blocks.size()) - 1;
  }
  constexpr bool has_int8() const {
    return std::ranges::any_of(graph.nodes, [](const Node& n) {
      return n.layer->param_count > 0 &&
             std::ranges::any_of(n.layer->params, [](const Param& p) { return bool(p.int8); });
    });
  }
  /// Exchanges the layers of a block, and lays its parameters out anew. A unit that is frozen whole has
  /// no parameters apart.
  constexpr void apply(const Variant& variant) {
    Block& block = graph.blocks[variant.block];
    const bool in_part =
        std::ranges::any_of(variant.fates, [](Fate f) { return f != Fate::stays; });
    block.decayed = block.undecayed = block.running = block.fixed = block.parameters = 0;
    for (int k = 0; k < block.nodes; ++k) {
      Node& n = graph.nodes[block.first_node + k];
      const Fate fate = variant.fates[std::size_t(k)];
      if (fate == Fate::adapted) n.layer = n.adapted;
      if (fate == Fate::stays && !n.tied) n.layer = n.frozen_layer;
      n.frozen = in_part && fate != Fate::trained;
      n.first_offset = lay_out(graph, block, n);
    }
  }
};

/// Gives the layers that match Adapter::targets their adapters, trains those that match
/// Adapter::saved whole, and freezes all other parameters.
template <class Adapter>
constexpr void adapt(Graph& graph, bool checked) {
  Adapting adapting(graph, Adapter::targets, Adapter::saved);
  adapting.all_units();
  if (checked && !graph.fault.what) adapting.check<Adapter>();
}

}  // namespace sinter::detail

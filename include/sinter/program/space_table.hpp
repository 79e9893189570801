// SPDX-License-Identifier: Apache-2.0
// The table that says where each space lies, and what a rank has of it. Each region has its own
// row.
#pragma once
#include <array>
#include <optional>

#include "sinter/program/kind.hpp"

namespace sinter {

namespace detail {
/// Where a space lies.
enum class Lies : std::uint8_t {
  nowhere,    // the model does not have it
  arena,      // in the arena, flat, through all steps
  temporary,  // in the arena, in buffers that instructions open and close
  offloaded   // flat, outside of the arena: instructions fetch what a unit needs, and store it
};

/// What a rank has of the trained parameters' elements of a space between steps.
enum class Holds : std::uint8_t {
  whole,    // all of them, equal on all ranks
  current,  // room for all, of which only its shards are current
  shards,   // only its shards, packed in the order of the parts
  at_root   // room for all, which are current on root_rank alone
};

/// A row of the table. In the master weights it is about trained parameters: those of frozen units
/// and running values always are in the arena, and whole.
struct SpaceRow {
  Lies lies = Lies::arena;     ///< where it lies
  Holds holds = Holds::whole;  ///< what a rank has of it
};

/// The shape of the state that a policy keeps for one parameter.
struct StateShape {
  Element element = Element::f32;  ///< the type of its elements
  int rows = 0, columns = 0;       ///< 0 rows if it keeps nothing
  constexpr std::int64_t size() const { return std::int64_t(rows) * columns; }  ///< in elements
  constexpr std::int64_t bytes() const { return size() * bytes_of(element); }   ///< in bytes
};
}  // namespace detail

/// State of a policy for each parameter. Without `shape` it has one element for each element of the
/// parameters, laid out like the master weights.
struct Region {
  const char* name;             ///< name in files and in `describe`, such as "exp_avg"
  Type type = Type::state;      ///< type of the elements, if there is no `shape`
  const void* owner = nullptr;  ///< tag_of the policy
  /// Returns the shape of the state of a layer's parameter; the states of all parameters are
  /// packed.
  std::optional<detail::StateShape (*)(const detail::Layer& layer, int parameter)> shape{};
  /// Where it lies. If it is offloaded, temporary buffers hold the state of a unit.
  detail::SpaceRow row{};
};
/// The variable whose address identifies the type T.
template <class T>
inline constexpr char tag_of = 0;

namespace detail {
/// The rows of all spaces but regions, by Space. Each region has its own row (Region::row).
using SpaceTable = std::array<SpaceRow, std::size_t(Space::region)>;

/// What the policies of a recipe choose, from which the table follows.
struct StateModes {
  bool copies = false;            ///< true if layers read a copy of the weights
  bool fetches_weights = false;   ///< true if layers read a temporary copy of the weights
  bool offloads_masters = false;  ///< true if master weights lie outside of the arena
  bool splits_gradients = false;  ///< true if a rank stores only its shards of gradients
  bool frozen_apart = false;      ///< true if what is not trained has no master weights
  /// What a rank has of spaces that only the update needs: `whole`, `shards` or `at_root`.
  Holds shared = Holds::whole;
};

/// The table of a model with these modes.
constexpr SpaceTable space_table(const StateModes& modes = {}) {
  SpaceTable table;
  table.fill({Lies::temporary});
  const auto set = [&](Space space, Lies lies, Holds holds = Holds::whole) {
    table[std::size_t(space)] = {lies, holds};
  };
  const bool copies = modes.copies || modes.fetches_weights;
  const Holds masters = copies ? modes.shared : Holds::whole;
  const bool is_shard = modes.shared == Holds::shards && !modes.splits_gradients;
  set(Space::master, modes.offloads_masters ? Lies::offloaded : Lies::arena, masters);
  set(Space::fetched, modes.offloads_masters ? Lies::temporary : Lies::nowhere, masters);
  if (!modes.fetches_weights) set(Space::weights, copies ? Lies::arena : Lies::nowhere);
  set(Space::gradient, Lies::arena, is_shard ? Holds::current : modes.shared);
  if (!modes.splits_gradients) set(Space::d_weights, Lies::nowhere);
  set(Space::cache, Lies::nowhere);
  set(Space::frozen, modes.frozen_apart ? Lies::arena : Lies::nowhere);
  for (const Space space : {Space::kept, Space::running, Space::decision}) set(space, Lies::arena);
  return table;
}
}  // namespace detail

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// All combinations of what ./sinter tune tries for a recipe, with their plans as constants.
#pragma once
#include "sinter/base/text.hpp"
#include "sinter/recipe/with.hpp"
#include "tune/choices.hpp"
#include "tune/row.hpp"
#include "tune/why_not.hpp"

namespace sinter::detail::tune {

/// The recipe R with these policies in place of its own.
template <class R, class List>
struct Change;
template <class R, class... Policies>
struct Change<R, PolicyList<Policies...>> {
  using type = With<R, Policies...>;
  static std::vector<std::string> texts() { return {policy_text<Policies>()...}; }
};
/// The same, without those that are the recipe's own.
template <class R, class... Policies>
using ChangeBy =
    Change<R, Joined<std::conditional_t<std::is_same_v<Policies, OwnIn<R, typename Policies::slot>>,
                                        PolicyList<>, PolicyList<Policies>>...>>;

/// Sets what is planned of a row whose recipe is Made.
template <class Made>
void plan_row(Row& row) {
  constexpr std::int64_t arena = Plan<Made>::bytes;
  constexpr std::int64_t tokens = std::int64_t(Made::batch::options.global) * Made::data::context;
  constexpr std::int64_t flops = tokens * Plan<Made>::flops_per_token;
  row.arena = arena;
  row.flops = flops;
  row.flops_per_token = Plan<Made>::flops_per_token;
  row.micro = Planned<Made>::type::batch::micro;
  if constexpr (requires { Made::memory::template fits<Made, Plan>(); })
    if (arena > Made::memory::options.bytes) row.reason = "nothing fits into its budget";
}

/// The row of the recipe R with these policies, one for each slot that differs between rows.
template <class R, class... Policies>
Row row_of() {
  using Changed = ChangeBy<R, Policies...>;
  using Made = typename Changed::type;
  Row row{{policy_text<Policies>()...}, Changed::texts(), why_not<Made>()};
  row.ranks = Made::parallel::ranks(Made::parallel::options);
  if constexpr (is_allowed<Made>()) plan_row<Made>(row);
  return row;
}

template <class R, class... Chosen>
void add_rows(std::vector<Row>& rows, PolicyList<Chosen...>) {
  rows.push_back(row_of<R, Chosen...>());
}
/// Adds the rows of all combinations of what has been chosen with one of each other list.
template <class R, class... Chosen, class... First, class... Lists>
void add_rows(std::vector<Row>& rows, PolicyList<Chosen...>, PolicyList<First...>, Lists... lists) {
  (add_rows<R>(rows, PolicyList<Chosen..., First>{}, lists...), ...);
}

/// A list of the choices for a slot, if the user lets it change and there are several; else none.
template <class R, class Slot, Text Slots, int MostRanks>
struct Varied {
  template <class List>
  using IfSeveral = std::conditional_t<(List::count > 1), PolicyList<List>, PolicyList<>>;
  using type = IfSeveral<
      typename std::conditional_t<has_slot(Slots.view(), Slot::name), Choices<R, Slot, MostRanks>,
                                  std::type_identity<PolicyList<>>>::type>;
};

template <class First, class... Policies>
std::string slot_of(PolicyList<First, Policies...>) {
  return std::string(First::slot::name);
}

/// The lists of choices of the slots that differ between rows.
template <class R, Text Slots, int MostRanks>
using ListsOf = Joined<typename Varied<R, slot::precision, Slots, MostRanks>::type,
                       typename Varied<R, slot::memory, Slots, MostRanks>::type,
                       typename Varied<R, slot::batch, Slots, MostRanks>::type,
                       typename Varied<R, slot::batching, Slots, MostRanks>::type,
                       typename Varied<R, slot::parallel, Slots, MostRanks>::type,
                       typename Varied<R, slot::optimizer, Slots, MostRanks>::type>;

/// The grid of the recipe R.
/// Slots: the names of slots that may change; MostRanks: the most ranks in one process
/// requires  ready<R>()
template <class R, Text Slots, int MostRanks>
Grid grid_of() {
  Grid grid{short_type_name<R>(), {}, {}, !Plan<R>::model.unplanned()};
  auto add_all = [&]<class... Lists>(PolicyList<Lists...>) {
    (grid.slots.push_back(slot_of(Lists{})), ...);
    add_rows<R>(grid.rows, PolicyList<>{}, Lists{}...);
  };
  add_all(ListsOf<R, Slots, MostRanks>{});
  return grid;
}

}  // namespace sinter::detail::tune

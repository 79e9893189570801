// SPDX-License-Identifier: Apache-2.0
// A row of a grid as a recipe that trains.
#pragma once
#include <tuple>

#include "sinter/cli/run.hpp"
#include "tune/grid.hpp"

namespace sinter::detail::tune {

/// The policies of the row `Number` of a grid whose slots have these lists of choices: the last list
/// differs the fastest, as in add_rows().
template <int Number, class Chosen, class... Lists>
struct PoliciesOf : std::type_identity<Chosen> {};
template <int Number, class... Chosen, class... First, class... Lists>
struct PoliciesOf<Number, PolicyList<Chosen...>, PolicyList<First...>, Lists...> {
  static constexpr int below =
      (int(Lists::count) * ... * 1);  // rows of each policy of the first list
  using chosen = std::tuple_element_t<std::size_t(Number / below), std::tuple<First...>>;
  using type = typename PoliciesOf<Number % below, PolicyList<Chosen..., chosen>, Lists...>::type;
};

template <class R, class List>
struct ChangeByList;
template <class R, class... Policies>
struct ChangeByList<R, PolicyList<Policies...>> : ChangeBy<R, Policies...> {};

/// The recipe of the row `Number` of the grid with these lists.
template <int Number, class R, class Lists>
struct RowRecipe;
template <int Number, class R, class... Lists>
struct RowRecipe<Number, R, PolicyList<Lists...>>
    : ChangeByList<R, typename PoliciesOf<Number, PolicyList<>, Lists...>::type> {};

/// Runs a verb of a row's recipe. It may be any but those that write texts.
template <int Number, class R, Text Slots, int MostRanks>
int run_row(int argc, char** argv) {
  using Made = typename RowRecipe<Number, R, ListsOf<R, Slots, MostRanks>>::type;
  if constexpr (ready<Made>()) {
    return run_recipe([] { return view_of<Made>(); }, argc, argv);
  } else {
    return 1;
  }
}

}  // namespace sinter::detail::tune

// SPDX-License-Identifier: Apache-2.0
// A recipe with other policies in some of its slots.
#pragma once
#include "sinter/recipe/recipe.hpp"

namespace sinter {

namespace detail {
/// The policies that stand in the place of P, one of a recipe's: those of Policies in its slot, else P.
template <class P, class... Policies>
struct InPlaceOf {
  using claims = typename Claim<typename SlotOf<P>::type, PolicyList<>, Policies...>::type;
  using type = std::conditional_t<claims::count == 0, PolicyList<P>, claims>;
};

template <class... P>
Recipe<P...> recipe_of(PolicyList<P...>);

/// The recipe that is written as the list Written, with Policies in their slots. Those in slots that
/// the list leaves to defaults stand behind the others.
template <class Written, class... Policies>
struct Replaced;
template <class... P, class... Policies>
struct Replaced<PolicyList<P...>, Policies...> {
  using slots = PolicyList<typename SlotOf<P>::type...>;
  using added = typename Others<slots, PolicyList<>, Policies...>::type;
  using type = decltype(recipe_of(Joined<typename InPlaceOf<P, Policies...>::type..., added>{}));
};

/// The base of With, which is empty if R is no recipe: then ready() says so.
template <class R, class... Policies>
struct WithOf {
  struct type {};
};
template <class R, class... Policies>
  requires requires { typename R::written; }
struct WithOf<R, Policies...> : Replaced<typename R::written, Policies...> {};
}  // namespace detail

/// The recipe R with other policies in their slots; one in a slot that R leaves empty is added. It is
/// as if they had been written in R, and may have a name of its own:
///   struct faster : With<mine, Bf16, Batch<{.global = 8, .micro = 4}>> {};
/// requires  the policies are in different slots
template <class R, class... Policies>
struct With : detail::WithOf<R, Policies...>::type {
  using original = R;  ///< the recipe whose policies these replace
};

}  // namespace sinter

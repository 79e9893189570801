// SPDX-License-Identifier: Apache-2.0
// What a hook is: an optional static member of a policy, described once by a macro. Its contract is
// the comment above the macro; hooks.hpp has the hooks of every slot, slot_hooks.hpp those of
// single ones.
#pragma once
#include <algorithm>
#include <array>
#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "sinter/policy/slots.hpp"

// clang-format off
// Defines the hook `member`, a constant that converts to Type. Code asks for member<P>, which is
// `fallback` if P has no such member.
#define SINTER_VALUE_HOOK(Type, member, fallback)                                                 \
  template <class P>                                                                              \
  inline constexpr Type member = fallback;                                                        \
  template <class P>                                                                              \
    requires requires { Type{P::member}; }                                                        \
  inline constexpr Type member<P> = P::member;                                                    \
  SINTER_HOOK(member, requires { Type{P::member}; },                                              \
                  "static constexpr " #Type " " #member)
// Describes the hook `member`, which a policy P has if `is_found`, for the recipe R with
// SINTER_RECIPE_HOOK. `form` is its declaration, for messages.
#define SINTER_HOOK(member, is_found, form) SINTER_HOOK_OF(false, member, is_found, form)
#define SINTER_RECIPE_HOOK(member, is_found, form) SINTER_HOOK_OF(true, member, is_found, form)
// `named` returns true if P has a member of this name, unless that is private or overloaded;
// `hidden` is true also then.
#define SINTER_HOOK_OF(is_by_recipe, member, is_found, form)                                      \
  struct member##_hook {                                                                          \
    static constexpr std::string_view name = #member;                                             \
    static constexpr bool by_recipe = is_by_recipe;                                               \
    template <class P, class R>                                                                   \
    static constexpr bool found = is_found;                                                       \
    template <class P, class R>                                                                   \
    static constexpr bool named() {                                                               \
      if constexpr (requires { &P::member; } || requires { typename P::member; })                 \
        return true;                                                                              \
      else                                                                                        \
        return requires { &P::template member<R>; };                                              \
    }                                                                                             \
    struct Name {                                                                                 \
      int member;                                                                                 \
    };                                                                                            \
    template <class P>                                                                            \
    static constexpr bool hidden = !requires { &Beside<P, Name>::member; };                       \
    template <class Policy>                                                                       \
    static auto has_another_form() {                                                              \
      static_assert(sizeof(Policy) == 0,                                                          \
                    "Sinter: a member of a policy has the name of a hook, but another form. "     \
                    "What: the member " #member " of Policy, in this error, must be: " form ". "  \
                    "Why: it would be passed over without a word. Fix: correct its type or "      \
                    "arguments and make it static and public, or rename it; "                     \
                    "sinter/policy/hooks.hpp and slot_hooks.hpp say what each hook is.");         \
    }                                                                                             \
  }
// clang-format on

namespace sinter::detail {

/// Detects a member by its name: one that both bases have is ambiguous.
template <class P, class Other>
struct Beside : P, Other {};
template <class P, class Other>
  requires std::is_final_v<P>
struct Beside<P, Other> : Other {};

/// A list of descriptions of hooks.
template <class... Hooks>
struct HookList {
  static constexpr std::size_t size = sizeof...(Hooks);  ///< number of hooks
  template <std::size_t Index>
  using At = std::tuple_element_t<Index, std::tuple<Hooks...>>;  ///< one of them
  template <class... More>
  using With = HookList<Hooks..., More...>;  ///< the list with more hooks behind
};

/// A hook, with `found` true if a policy has it.
struct Hook {
  std::string_view name;  ///< the hook's name
  bool found;             ///< true if the policy has it
};

/// R for a hook that depends on the recipe; else void, so that all recipes share the answer.
template <class Hook, class R>
using AskedBy = std::conditional_t<Hook::by_recipe, R, void>;
/// The hooks of a list, with those found that the policy P of the recipe R has.
template <class P, class R, class... Hooks>
constexpr auto hooks_among(HookList<Hooks...>) {
  return std::array{Hook{Hooks::name, Hooks::template found<P, AskedBy<Hooks, R>>}...};
}

/// True if a member of the policy P has the hook's name, but not its form. The binary's verbs call
/// members of data, so there even a private one counts.
template <class Hook, class P, class R>
constexpr bool has_wrong_form() {
  if constexpr (Hook::template found<P, R>) {
    return false;
  } else if constexpr (std::same_as<typename P::slot, slot::data>) {
    return Hook::template hidden<P>;
  } else {
    return Hook::template named<P, R>();
  }
}
/// Index of the first hook of a list that a member of the policy P of the recipe R has_wrong_form()
/// for; the list's size if there is none.
template <class P, class R, class... Hooks>
constexpr std::size_t first_wrong(HookList<Hooks...>) {
  const std::array wrong{has_wrong_form<Hooks, P, AskedBy<Hooks, R>>()...};
  return std::size_t(std::ranges::find(wrong, true) - wrong.begin());
}

}  // namespace sinter::detail

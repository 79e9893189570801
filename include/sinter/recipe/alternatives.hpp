// SPDX-License-Identifier: Apache-2.0
// Policies that need less memory and could replace a recipe's own.
#pragma once
#include <optional>
#include <span>

#include "sinter/optimizer/optimizer.hpp"
#include "sinter/recipe/recipe.hpp"
#include "sinter/recipe/techniques.hpp"
#include "sinter/recipe/traced.hpp"
#include "sinter/recipe/with.hpp"

namespace sinter::detail {

template <class P>
struct IsOffered : std::bool_constant<hook::HasOffered<P>> {};
template <class... Policies>
PoliciesThat<IsOffered, Policies...> offered_among(PolicyList<Policies...>);

/// All policies that `describe` may suggest, in the order in which they are planned. Each has its
/// words and its cost in its member `offered`.
using OfferedPolicies = decltype(offered_among(
    Joined<PolicyList<Checkpoint<{.policy = selective}>>, shipped::memory, shipped::precision,
           PolicyList<Fp16<{.masters = false}>>, shipped::optimizer>{}));

/// A policy that `describe` may suggest, and its changes to the plan.
struct Alternative {
  Offer offer;  ///< how `describe` suggests it
  // Changed by an optimizer:
  const Kind* update = nullptr;   ///< its update, for planning only
  std::vector<Region> regions{};  ///< its state, if it replaces the optimizer
  bool by_parameter = false;      ///< true if it takes parameters whole
  // Changed by a precision:
  std::optional<std::array<Element, types>>
      elements{};  ///< its types, if it replaces the precision
  // Changed by a memory policy:
  std::optional<RecomputedInside> recomputed{};  ///< its recomputation, if it differs
  /// How it rewrites the program, if it does.
  Program (*rewrite)(const Model&, const Program&) = nullptr;
};

/// The kind of an update for planning only; it never runs.
template <class Optimizer>
inline constexpr Kind planned_update{.name = "update",
                                     .touch = touches::update<Optimizer>,
                                     .role = Role::update,
                                     .workspace = executes::update_workspace<Optimizer>,
                                     .if_applied = true};

/// True if the recipe Other obeys the rules of P and of R's policies in other slots, and its
/// optimizer can update shards where ranks have shards.
template <class R, class P, class Other>
constexpr bool allowed() {
  bool all = rules_hold<Other, P>();
  for_each_policy(typename R::all{}, [&]<hook::HasRules Q>(Q*) {
    if constexpr (!std::is_same_v<typename Q::slot, typename P::slot>)
      all &= rules_hold<Other, Q>();
  });
  return all && (shards_of<Other> == 1 || works_on_shards<typename Other::optimizer, Other>());
}

template <class P>
Alternative alternative_of() {
  Alternative a{P::offered};
  if constexpr (std::is_same_v<typename P::slot, slot::precision>) {
    a.elements = elements_of<P>();
  } else if constexpr (std::is_same_v<typename P::slot, slot::memory>) {
    a.recomputed = recomputed_by<P>();
    a.rewrite = P::rewrite;
  } else {
    a.update = &planned_update<P>;
    a.by_parameter = hook::by_parameter<P>;
    for (Region region : P::regions) {
      region.owner = &tag_of<P>;
      a.regions.push_back(region);
    }
  }
  return a;
}

/// The policies in Offered that are allowed, in the order of the list.
template <class... Offered>
std::vector<Alternative> alternatives_among(std::span<const bool> allowed, PolicyList<Offered...>) {
  constexpr std::array makers{alternative_of<Offered>...};
  std::vector<Alternative> list;
  for (std::size_t k = 0; k < makers.size(); ++k)
    if (allowed[k]) list.push_back(makers[k]());
  return list;
}
template <class R, class... Offered>
consteval auto allowed_of(PolicyList<Offered...>) {
  return std::array{allowed<R, Offered, With<R, Offered>>()...};
}

/// The alternatives that the recipe's rules allow.
template <class R>
std::vector<Alternative> alternatives_of() {
  static constexpr std::array allowed = allowed_of<R>(OfferedPolicies{});
  return alternatives_among(allowed, OfferedPolicies{});
}

}  // namespace sinter::detail

// Policies with less memory that could take the place of a recipe's own.
#pragma once
#include <optional>

#include "sinter/optimizer/adafactor.hpp"
#include "sinter/optimizer/adamw8bit.hpp"
#include "sinter/optimizer/lion.hpp"
#include "sinter/optimizer/optimizer.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/plan/traced.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp16.hpp"
#include "sinter/precision/fp32.hpp"
#include "sinter/recipe/recipe.hpp"

namespace sinter {

/// A policy as a recipe would name it, and what it would change in the plan.
struct Alternative {
  const char* policy;
  const Kind* update = nullptr;  // of an optimizer, which does not run
  std::vector<Region> regions{};
  std::optional<std::array<Element, types>> elements{};  // of a precision
};

namespace detail {

/// A recipe with another policy in the slot.
template <class R, class P, class Slot = typename P::slot>
struct With;
template <class R, class P>
struct With<R, P, slot::optimizer> : R {
  using optimizer = P;
};
template <class R, class P>
struct With<R, P, slot::precision> : R {
  using precision = P;
};

template <class Optimizer>
inline constexpr Kind planned_update{
    "update", touches::update<Optimizer>,           executes::nothing, Role::update,
    0,        executes::update_workspace<Optimizer>};

/// Whether the rules of P, and of all policies of R in other slots, hold for Other.
template <class R, class P, class Other>
constexpr bool allowed() {
  bool all = rules_hold<Other, P>();
  for_each_policy(typename R::all{}, [&]<class Q>(Q*) {
    if constexpr (!std::is_same_v<typename Q::slot, typename P::slot>)
      all &= rules_hold<Other, Q>();
  });
  return all;
}

template <class R, class P>
void offer(std::vector<Alternative>& list, const char* name) {
  if constexpr (allowed<R, P, With<R, P>>()) {
    Alternative a{name};
    if constexpr (std::is_same_v<typename P::slot, slot::precision>) {
      a.elements = elements_of<P>();
    } else {
      a.update = &planned_update<P>;
      for (Region region : P::regions) {
        region.owner = &tag_of<P>;
        a.regions.push_back(region);
      }
    }
    list.push_back(std::move(a));
  }
}

}  // namespace detail

/// Those that the recipe's rules allow.
template <class R>
std::vector<Alternative> alternatives_of() {
  std::vector<Alternative> list;
  detail::offer<R, Fp32>(list, "Fp32");
  detail::offer<R, Bf16>(list, "Bf16");
  detail::offer<R, Fp16<>>(list, "Fp16<>");
  detail::offer<R, Fp16<{.masters = false}>>(list, "Fp16<{.masters = false}>");
  detail::offer<R, AdamW8bit<>>(list, "AdamW8bit<>");
  detail::offer<R, Adafactor<>>(list, "Adafactor<>");
  detail::offer<R, Lion<>>(list, "Lion<>");
  detail::offer<R, Sgd<>>(list, "Sgd<> without momentum");
  return list;
}

}  // namespace sinter

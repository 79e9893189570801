// SPDX-License-Identifier: Apache-2.0
// A recipe is a type: policies in any order, at most one for each slot. Slots without a policy have
// defaults.
#pragma once
#include <algorithm>
#include <array>
#include <tuple>

#include "sinter/batch/batch.hpp"
#include "sinter/clipping/clip_norm.hpp"
#include "sinter/data/rows.hpp"
#include "sinter/device/default.hpp"
#include "sinter/memory/keep_all.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/single.hpp"
#include "sinter/policy/claims.hpp"
#include "sinter/policy/concepts.hpp"
#include "sinter/policy/option_checks.hpp"
#include "sinter/policy/slot_hooks.hpp"
#include "sinter/precision/fp32.hpp"
#include "sinter/schedule/constant.hpp"

namespace sinter {

namespace detail {
/// The compile error for a policy that lacks a member that its slot requires, which the concept
/// names.
template <class P>
auto policy_does_not_fit_its_slot() {
  static_assert(
      CompletePolicy<P>,
      "Sinter: this policy is not all that its slot asks for. What: the policy is P in "
      "this error, and what it misses follows as a note. Why: the slot's concept in "
      "sinter/policy/concepts.hpp is the contract. Fix: give it that member, and keep it empty: "
      "options are static, state is a region.");
}

using OurSlots =
    PolicyList<slot::model, slot::data, slot::precision, slot::optimizer, slot::schedule,
               slot::clipping, slot::batch, slot::memory, slot::parallel, slot::device>;
}  // namespace detail

/// A training configuration. Derive a named type from it, so that diagnostics show that name:
///   struct mine : Recipe<Gpt2<{.layers = 4, .heads = 4, .width = 128}>, Bytes<{.context = 128}>>
///   {};
/// requires  each policy satisfies the concept of its slot (concepts.hpp)
/// ensures   each slot has one type: the policy that claims it, or Rows, Fp32, AdamW<>, Constant,
///           ClipNorm<>, Batch<>, KeepAll, Single, the build's device; only the model has no
///           default
template <class... Policies>
struct Recipe {
  /// The policies as they are written, without defaults.
  using written = detail::PolicyList<Policies...>;
  /// The policies that claim a slot.
  template <class Slot>
  using Claimed = typename detail::Claim<Slot, detail::PolicyList<>, Policies...>::type;
  /// The policy in a slot, or the default.
  template <class Slot, class Default>
  using Pick = typename detail::FirstOr<Default, Claimed<Slot>>::type;

  /// The model policy; see ModelPolicy.
  using model = Pick<slot::model, void>;
  /// The data policy; see DataPolicy.
  using data = Pick<slot::data, Rows>;
  /// The precision policy; see PrecisionPolicy.
  using precision = Pick<slot::precision, Fp32>;
  /// The optimizer policy; see OptimizerPolicy.
  using optimizer = Pick<slot::optimizer, AdamW<>>;
  /// The schedule policy; see SchedulePolicy.
  using schedule = Pick<slot::schedule, Constant>;
  /// The clipping policy; see ClippingPolicy.
  using clipping = Pick<slot::clipping, ClipNorm<>>;
  /// The batch policy; see BatchPolicy.
  using batch = Pick<slot::batch, Batch<>>;
  /// The memory policy; see MemoryPolicy.
  using memory = Pick<slot::memory, KeepAll>;
  /// The parallel policy; see ParallelPolicy.
  using parallel = Pick<slot::parallel, Single>;
  /// The device policy; see DevicePolicy.
  using device = Pick<slot::device, DefaultDevice>;
  /// Policies in slots of their own, in the order written.
  using extras = typename detail::Others<detail::OurSlots, detail::PolicyList<>, Policies...>::type;
  /// Returns the list of all slots, with `Extras` behind those of Sinter.
  template <class... Extras>
  static auto all_of(detail::PolicyList<Extras...>)
      -> detail::PolicyList<model, data, precision, optimizer, schedule, clipping, batch, memory,
                            parallel, device, Extras...>;
  /// The PolicyList of all slots, defaults included.
  using all = decltype(all_of(extras{}));

 private:
  template <class Slot>
  static constexpr bool claimed_once() {
    if constexpr (Claimed<Slot>::count > 1)
      (void)&detail::two_policies_claim_one_slot<Slot, Claimed<Slot>>;
    return Claimed<Slot>::count <= 1;
  }
  template <class R, class... Rules>
  static constexpr bool obeys_all(RuleList<Rules...>) {
    return (obeys<R, Rules>() && ...);
  }
  template <class R, class Rule>
  static constexpr bool obeys() {
    if constexpr (!Rule::template holds<R>) (void)&Rule::template enforce<R>;
    return Rule::template holds<R>;
  }
  template <class... All>
  static constexpr bool any_mistakes = (detail::option_mistakes<All>.any() || ...);
  /// True if all options are legal and all rules hold. Checks options first, as rules may rely on
  /// them.
  template <class R, class... All>
  static constexpr bool all_hold(detail::PolicyList<All...>) {
    if constexpr (any_mistakes<All...>) {
      return false;
    } else {
      return (detail::rules_hold<R, All>() && ...);
    }
  }
  template <class R, class... All>
  static constexpr bool all_obey(detail::PolicyList<All...>) {
    if constexpr (any_mistakes<All...>) {
      constexpr std::array mistaken{detail::option_mistakes<All>.any()...};
      constexpr auto first = std::ranges::find(mistaken, true) - mistaken.begin();
      return detail::options_are_legal<std::tuple_element_t<first, std::tuple<All...>>>();
    } else {
      return (obeys_all<R>(detail::hook::rules<All>) && ...);
    }
  }
  template <class R, class P>
  static constexpr bool is_policy() {
    if constexpr (std::is_void_v<typename detail::SlotOf<P>::type>) {
      (void)&detail::this_is_not_a_policy<P, false>;
      return false;
    } else if constexpr (!detail::CompletePolicy<P>) {
      (void)&detail::policy_does_not_fit_its_slot<P>;
      return false;
    } else if constexpr (!detail::NamedSlot<typename P::slot>) {
      (void)&detail::a_slot_has_no_name<P>;
      return false;
    } else if constexpr (!detail::all_is_listed<P>()) {
      return false;
    } else {
      return detail::hooks_fit<P, R>();
    }
  }
  template <class R, class P>
  static constexpr bool acts() {
    constexpr bool any = std::ranges::any_of(detail::acting_hooks<P, R>(), &detail::Hook::found);
    if constexpr (!any) (void)&detail::a_policy_does_nothing<P>;
    return any;
  }
  /// True if no two of the policies' slots have the same name; otherwise also makes a compile
  /// error.
  template <class... All>
  static constexpr bool slots_differ(detail::PolicyList<All...>) {
    constexpr std::array<std::string_view, sizeof...(All)> names{All::slot::name...};
    constexpr auto again = [&] {
      auto second = names.begin();
      while (second != names.end() && std::find(names.begin(), second, *second) == second) ++second;
      return second - names.begin();
    }();
    if constexpr (again < int(names.size())) {
      using Types = std::tuple<All...>;
      constexpr auto first = std::ranges::find(names, names[again]) - names.begin();
      (void)&detail::two_slots_have_one_name<std::tuple_element_t<first, Types>,
                                             std::tuple_element_t<again, Types>>;
    }
    return again == int(names.size());
  }
  /// True if each policy in a slot of its own has an effect, and the slot a unique name.
  template <class R, class... Extras>
  static constexpr bool are_extras(detail::PolicyList<Extras...>) {
    if constexpr (sizeof...(Extras) == 0) {
      return true;
    } else {
      return (acts<R, Extras>() && ...) && slots_differ(all{});
    }
  }

 public:
  /// True if all options are legal and all rules hold. Makes no compile error, so that code can
  /// choose among recipes. R is the recipe's own type.
  template <class R>
  [[nodiscard]] static constexpr bool may_exist() {
    return all_hold<R>(all{});
  }
  /// True if the recipe is legal; otherwise also makes one compile error for the first policy,
  /// option or rule that is wrong. R is the recipe's own type, for the message.
  template <class R>
  [[nodiscard]] static constexpr bool is_legal() {
    if constexpr (!(is_policy<R, Policies>() && ...)) {
      return false;
    } else if constexpr (!(claimed_once<typename Policies::slot>() && ...)) {
      return false;
    } else if constexpr (std::is_void_v<model>) {
      (void)&detail::recipe_lacks_a_model<R>;
      return false;
    } else if constexpr (!are_extras<R>(extras{})) {
      return false;
    } else {
      return all_obey<R>(all{});
    }
  }
};

}  // namespace sinter

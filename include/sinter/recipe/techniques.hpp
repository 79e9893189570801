// SPDX-License-Identifier: Apache-2.0
// The policies on which the memory of training depends most. They are apart from those of other
// slots (all_policies.hpp), as each trainer includes them to plan alternatives to its recipe.
#pragma once
#include "sinter/memory/budget.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/memory/keep_all.hpp"
#include "sinter/memory/offload.hpp"
#include "sinter/optimizer/adafactor.hpp"
#include "sinter/optimizer/adam.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/optimizer/adamw8bit.hpp"
#include "sinter/optimizer/lion.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/policy/claims.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp16.hpp"
#include "sinter/precision/fp32.hpp"
#include "sinter/precision/fp64.hpp"
#include "sinter/precision/tf32.hpp"

/// All policies that Sinter ships: a list for each section of docs/policies.md.
namespace sinter::detail::shipped {

using memory =
    PolicyList<KeepAll, Checkpoint<>, Budget<BudgetOptions{}>, Offload<>>;  ///< all memory policies
using precision = PolicyList<Fp32, Tf32, Bf16, Fp16<>, Fp64>;               ///< all precisions
using optimizer = PolicyList<AdamW<>, Adam<>, AdamW8bit<>, Adafactor<>, Lion<>, Sgd<>,
                             Muon<>>;  ///< all optimizers

}  // namespace sinter::detail::shipped

namespace sinter::detail {

/// True if two policies are one template, perhaps with different options.
template <class A, class B>
struct SameTemplate : std::is_same<A, B> {};
template <template <auto...> class Policy, auto... A, auto... B>
struct SameTemplate<Policy<A...>, Policy<B...>> : std::true_type {};

/// The policies in the list All whose templates are not in the list Named. Tests and benches that
/// have options of their own for some policies take these with their defaults.
template <class Named, class All>
struct OtherPolicies;
template <class... Named, class... Policies>
struct OtherPolicies<PolicyList<Named...>, PolicyList<Policies...>> {
  template <class P>
  struct IsOther : std::bool_constant<!(SameTemplate<P, Named>::value || ...)> {};
  using type = PoliciesThat<IsOther, Policies...>;
};
template <class Named, class All>
using OthersThan = typename OtherPolicies<Named, All>::type;

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Which of a recipe's policies claims which slot.
#pragma once
#include <type_traits>

namespace sinter::detail {

/// A list of policies, such as those that claim a slot.
template <class... Policies>
struct PolicyList {
  static constexpr int count = sizeof...(Policies);  ///< number of policies
};

/// Concatenates lists of policies. (An operator on lists would make the compiler instantiate each
/// policy, to look for friends.)
template <class... Lists>
struct Join : std::type_identity<PolicyList<>> {};
template <class... First>
struct Join<PolicyList<First...>> : std::type_identity<PolicyList<First...>> {};
template <class... First, class... Second, class... Rest>
struct Join<PolicyList<First...>, PolicyList<Second...>, Rest...>
    : Join<PolicyList<First..., Second...>, Rest...> {};
template <class... Lists>
using Joined = typename Join<Lists...>::type;

/// The PolicyList P for which Fits<P>::value holds.
template <template <class> class Fits, class... Policies>
using PoliciesThat =
    Joined<std::conditional_t<Fits<Policies>::value, PolicyList<Policies>, PolicyList<>>...>;

/// True if `function(arguments…)` compiles; constraints of the function's parameters count.
template <class Function, class... Arguments>
concept Takes = requires(Function& function, Arguments... arguments) { function(arguments...); };

template <class Visit>
struct TakenBy {
  template <class P>
  struct One : std::bool_constant<Takes<Visit, P*>> {};
};
template <class... Policies>
constexpr void visit_each(PolicyList<Policies...>, auto& visit) {
  (visit(static_cast<Policies*>(nullptr)), ...);
}

/// Calls visit(static_cast<P*>(nullptr)) for each policy P that `visit` accepts, such as each with
/// a hook:
///   for_each_policy(typename R::all{}, []<hook::HasFrozen P>(P*) { … });
/// Nothing is compiled for the other policies.
template <class... Policies, class Visit>
constexpr void for_each_policy(PolicyList<Policies...>, Visit visit) {
  using Taken = PoliciesThat<TakenBy<Visit>::template One, Policies...>;
  visit_each(Taken{}, visit);
}

/// The slot of P; void if P is not a policy.
template <class P>
struct SlotOf {
  using type = void;
};
template <class P>
  requires requires { typename P::slot; }
struct SlotOf<P> {
  using type = typename P::slot;
};

/// Appends the policies of Slot among Policies to the list Found.
template <class Slot, class Found, class... Policies>
struct Claim {
  using type = Found;
};
template <class Slot, class... Found, class First, class... Rest>
struct Claim<Slot, PolicyList<Found...>, First, Rest...>
    : Claim<Slot,
            std::conditional_t<std::is_same_v<Slot, typename SlotOf<First>::type>,
                               PolicyList<Found..., First>, PolicyList<Found...>>,
            Rest...> {};

/// The first policy in the list Found, or Default if the list is empty.
template <class Default, class Found>
struct FirstOr {
  using type = Default;
};
template <class Default, class First, class... Rest>
struct FirstOr<Default, PolicyList<First, Rest...>> {
  using type = First;
};

/// Appends the policies whose slots are not in Known to the list Found.
template <class Known, class Found, class... Policies>
struct Others {
  using type = Found;
};
template <class... Slots, class... Found, class First, class... Rest>
struct Others<PolicyList<Slots...>, PolicyList<Found...>, First, Rest...>
    : Others<PolicyList<Slots...>,
             std::conditional_t<(std::is_same_v<typename SlotOf<First>::type, Slots> || ...),
                                PolicyList<Found...>, PolicyList<Found..., First>>,
             Rest...> {};
}  // namespace sinter::detail

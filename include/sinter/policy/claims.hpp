// SPDX-License-Identifier: Apache-2.0
// Which of a recipe's policies claims which slot.
#pragma once
#include <type_traits>

namespace sinter {

/// A list of policies, such as those that claim a slot.
template <class... Policies>
struct Claimants {
  static constexpr int count = sizeof...(Policies);
};

namespace detail {

/// Two lists as one. It is for types alone, and never called.
template <class... First, class... Second>
Claimants<First..., Second...> operator+(Claimants<First...>, Claimants<Second...>);

/// The Claimants P for which Fits<P>::value holds.
template <template <class> class Fits, class... Policies>
using ClaimantsThat =
    decltype((Claimants<>{} + ... +
              std::conditional_t<Fits<Policies>::value, Claimants<Policies>, Claimants<>>{}));

/// Whether a function takes such arguments, which constraints of its parameters decide.
template <class Function, class... Arguments>
concept Takes = requires(Function& function, Arguments... arguments) { function(arguments...); };

template <class Visit>
struct TakenBy {
  template <class P>
  struct One : std::bool_constant<Takes<Visit, P*>> {};
};
template <class... Policies>
constexpr void visit_each(Claimants<Policies...>, auto& visit) {
  (visit(static_cast<Policies*>(nullptr)), ...);
}

}  // namespace detail

/// Calls visit(static_cast<P*>(nullptr)) for each policy P that it takes, such as those with a hook:
///   for_each_policy(typename R::all{}, []<hook::HasFrozen P>(P*) { … });
/// Nothing is compiled for the others.
template <class... Policies, class Visit>
constexpr void for_each_policy(Claimants<Policies...>, Visit visit) {
  using Taken = detail::ClaimantsThat<detail::TakenBy<Visit>::template One, Policies...>;
  detail::visit_each(Taken{}, visit);
}

namespace detail {

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

/// The Claimants of Slot among Policies, in addition to those in Found.
template <class Slot, class Found, class... Policies>
struct Claim {
  using type = Found;
};
template <class Slot, class... Found, class First, class... Rest>
struct Claim<Slot, Claimants<Found...>, First, Rest...>
    : Claim<Slot,
            std::conditional_t<std::is_same_v<Slot, typename SlotOf<First>::type>,
                               Claimants<Found..., First>, Claimants<Found...>>,
            Rest...> {};

/// The first of the Claimants in Found; Default if there are none.
template <class Default, class Found>
struct FirstOr {
  using type = Default;
};
template <class Default, class First, class... Rest>
struct FirstOr<Default, Claimants<First, Rest...>> {
  using type = First;
};

/// The policies, in addition to those in Found, whose slots are not in Known.
template <class Known, class Found, class... Policies>
struct Others {
  using type = Found;
};
template <class... Slots, class... Found, class First, class... Rest>
struct Others<Claimants<Slots...>, Claimants<Found...>, First, Rest...>
    : Others<Claimants<Slots...>,
             std::conditional_t<(std::is_same_v<typename SlotOf<First>::type, Slots> || ...),
                                Claimants<Found...>, Claimants<Found..., First>>,
             Rest...> {};

}  // namespace detail
}  // namespace sinter

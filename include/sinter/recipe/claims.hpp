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

/// Calls visit(static_cast<P*>(nullptr)) for each policy P.
template <class... Policies>
constexpr void for_each_policy(Claimants<Policies...>, auto visit) {
  (visit(static_cast<Policies*>(nullptr)), ...);
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

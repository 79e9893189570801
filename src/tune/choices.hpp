// SPDX-License-Identifier: Apache-2.0
// The policies that ./sinter tune tries in each slot of a recipe.
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

#include "sinter/batching/padded.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/recipe/alternatives.hpp"
#include "sinter/recipe/candidates.hpp"

namespace sinter::detail::tune {

/// The slots that may change.
inline constexpr std::array slot_names = std::to_array<std::string_view>(
    {slot::precision::name, slot::memory::name, slot::batch::name, slot::batching::name,
     slot::parallel::name, slot::optimizer::name});

/// True if the list `slots`, with commas between names, has the slot `name`.
constexpr bool has_slot(std::string_view slots, std::string_view name) {
  for (;;) {
    const std::size_t comma = slots.find(',');
    if (slots.substr(0, comma) == name) return true;
    if (comma == slots.npos) return false;
    slots.remove_prefix(comma + 1);
  }
}

/// The policies of a list, each once.
template <class Found, class... Policies>
struct Once : std::type_identity<Found> {};
template <class... Found, class First, class... Rest>
struct Once<PolicyList<Found...>, First, Rest...>
    : Once<std::conditional_t<(std::is_same_v<First, Found> || ...), PolicyList<Found...>,
                              PolicyList<Found..., First>>,
           Rest...> {};

/// The policies of a list that are in a slot.
template <class Slot, class List>
struct InSlot;
template <class Slot, class... Policies>
struct InSlot<Slot, PolicyList<Policies...>> : Claim<Slot, PolicyList<>, Policies...> {};

/// What describe suggests. (A policy of cost 0 is no suggestion: see Offer.)
template <class P>
struct IsSuggested : std::bool_constant<(P::offered.cost > 0)> {};
template <class... Policies>
PoliciesThat<IsSuggested, Policies...> suggested_among(PolicyList<Policies...>);
/// The policies that are tried in every recipe: those that save nothing, and what describe suggests.
using Usual = Joined<PolicyList<Fp32, Tf32, KeepAll, Packed, Padded, Single>,
                     decltype(suggested_among(OfferedPolicies{}))>;

/// The largest micro-batches that are tried: divisors of the global batch, from twice the recipe's own
/// down, each half of the one before; 0 where there is none.
constexpr std::array<int, 4> micro_batches(const BatchOptions& own) {
  std::array<int, 4> found{};
  std::size_t count = 0;
  for (int micro = 2 * own.micro; count < found.size(); micro /= 2) {
    if (micro <= own.global && own.global % micro == 0) found[count++] = micro;
    if (micro % 2 != 0) break;
  }
  return found;
}

/// Batches that differ from the recipe's own in the micro-batch. A policy of another type has none.
template <class R>
struct Batches : std::type_identity<PolicyList<>> {};
template <class R>
  requires requires { requires std::is_same_v<typename R::batch, Batch<R::batch::options>>; }
struct Batches<R> {
  static constexpr std::array micros = micro_batches(R::batch::options);
  template <int Micro>
  using One =
      std::conditional_t<(Micro > 0),
                         PolicyList<Batch<{.global = R::batch::options.global, .micro = Micro}>>,
                         PolicyList<>>;
  using type = Joined<One<micros[0]>, One<micros[1]>, One<micros[2]>, One<micros[3]>>;
};

/// Ranks of one process: 2, 4 and so on, up to `Most` and 8.
template <int Most>
using Ranks = Joined<std::conditional_t<(Most >= 2), PolicyList<Ddp<{.ranks = 2}>>, PolicyList<>>,
                     std::conditional_t<(Most >= 4), PolicyList<Ddp<{.ranks = 4}>>, PolicyList<>>,
                     std::conditional_t<(Most >= 8), PolicyList<Ddp<{.ranks = 8}>>, PolicyList<>>>;

template <class Candidate>
auto tune_does_not_change_the_slot_of_a_candidate() {
  static_assert(sizeof(Candidate) == 0,
                "Sinter: a candidate is in a slot that tune does not change. What: Candidate is in "
                "this error. Why: tune compares policies of the slots precision, memory, batch, "
                "batching, parallel and optimizer. Fix: leave it out of `candidates`; compare what "
                "it changes by a run of its own.");
}
template <class P>
constexpr bool is_candidate() {
  constexpr bool has_slot = [] {
    if constexpr (std::is_void_v<typename SlotOf<P>::type>) {
      return false;
    } else {
      return std::ranges::find(slot_names, P::slot::name) != slot_names.end();
    }
  }();
  if constexpr (!has_slot) (void)&tune_does_not_change_the_slot_of_a_candidate<P>;
  return has_slot;
}
/// The policies that the recipe R offers itself.
template <class Candidates>
struct Checked;
template <class... Policies>
struct Checked<Candidates<Policies...>>
    : std::conditional<(is_candidate<Policies>() && ...), PolicyList<Policies...>, PolicyList<>> {};
template <class R>
struct Offers : std::type_identity<PolicyList<>> {};
template <class R>
  requires requires { typename R::candidates; }
struct Offers<R> : Checked<typename R::candidates> {};

/// The recipe's own policy in a slot; Packed is its batching if it names none.
template <class R, class Slot>
using OwnIn =
    std::conditional_t<std::is_same_v<Slot, slot::batching>,
                       typename R::template Pick<Slot, Packed>,
                       typename FirstOr<void, typename InSlot<Slot, typename R::all>::type>::type>;

/// What is tried in a slot of the recipe R, its own policy first.
/// MostRanks: the most ranks in one process
template <class R, class Slot, int MostRanks>
struct Choices {
  using own = OwnIn<R, Slot>;
  template <class... Policies>
  static auto once(PolicyList<Policies...>) -> typename Once<PolicyList<own>, Policies...>::type;
  using ranks = std::conditional_t<R::device::on_host, Ranks<MostRanks>, PolicyList<>>;
  using tried = Joined<Usual, typename Batches<R>::type, ranks, typename Offers<R>::type>;
  using type = decltype(once(typename InSlot<Slot, tried>::type{}));
};
/// Data without examples have nothing to put into batches.
template <class R, int MostRanks>
  requires(!hook::has_examples<typename R::data>)
struct Choices<R, slot::batching, MostRanks>
    : std::type_identity<PolicyList<OwnIn<R, slot::batching>>> {};

}  // namespace sinter::detail::tune

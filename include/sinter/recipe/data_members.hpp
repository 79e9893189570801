// SPDX-License-Identifier: Apache-2.0
// Checks that the verbs of a binary can call the members of a data policy (data/data_view.hpp).
#pragma once
#include <concepts>
#include <string_view>
#include <utility>

#include "sinter/graph/diagnose.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

struct DataRequest;
struct DataUnit;
struct OpenedData;
struct Prompt;
struct Tokenizer;

namespace detail {
template <class P>
concept OpensData =
    std::same_as<decltype(P::open(std::declval<const DataRequest&>())), OpenedData> ||
    std::same_as<decltype(P::open(P::options, std::declval<const DataRequest&>())), OpenedData>;
template <class P>
concept OffersTokenizer = std::same_as<decltype(P::tokenizer()), Tokenizer> ||
                          std::same_as<decltype(P::tokenizer(P::options)), Tokenizer>;
template <class P>
concept GivesPrompt = std::same_as<decltype(P::prompt(std::declval<const Tokenizer&>(),
                                                      std::declval<std::string_view>())),
                                   Prompt> ||
                      std::same_as<decltype(P::prompt(P::options, std::declval<const Tokenizer&>(),
                                                      std::declval<std::string_view>())),
                                   Prompt>;
template <class P>
concept SaysUnit = std::same_as<decltype(P::unit), const DataUnit>;
template <class P>
concept SaysPathsHelp = requires {
  { P::paths_help } -> std::convertible_to<std::string_view>;
};

template <class P>
concept SaysTakesTokenizer = std::same_as<decltype(P::takes_tokenizer), const bool>;
template <class P>
concept SaysHasExamples = std::same_as<decltype(P::has_examples), const bool>;

// Detects a member by its name, whatever its signature: a name that two bases have is ambiguous, so
// &Searched<P>::name does not compile.
template <class P, class Other>
struct Beside : P, Other {};
template <class P, class Other>
  requires std::is_final_v<P>
struct Beside<P, Other> : Other {};
struct NamesOfOffers {
  int open, tokenizer, prompt, unit, paths_help, takes_tokenizer, has_examples;
};
template <class P>
using Searched = Beside<P, NamesOfOffers>;

/// The name of a member that P has with another type or signature than required; "" if none.
template <class P>
constexpr std::string_view mismatched_member() {
  if constexpr (!OpensData<P> && !requires { &Searched<P>::open; }) return "open";
  if constexpr (!OffersTokenizer<P> && !requires { &Searched<P>::tokenizer; }) return "tokenizer";
  if constexpr (!GivesPrompt<P> && !requires { &Searched<P>::prompt; }) return "prompt";
  if constexpr (!SaysUnit<P> && !requires { &Searched<P>::unit; }) return "unit";
  if constexpr (!SaysPathsHelp<P> && !requires { &Searched<P>::paths_help; }) return "paths_help";
  if constexpr (!SaysTakesTokenizer<P> && !requires { &Searched<P>::takes_tokenizer; })
    return "takes_tokenizer";
  if constexpr (!SaysHasExamples<P> && !requires { &Searched<P>::has_examples; })
    return "has_examples";
  return "";
}

/// True if P is no data policy, or all its members for the verbs are as required; otherwise also
/// makes one compile error.
template <class P>
[[nodiscard]] constexpr bool data_members_fit() {
  if constexpr (InAnotherSlot<P, slot::data>) {
    return true;
  } else {
    constexpr std::string_view member = mismatched_member<P>();
    if constexpr (!member.empty())
      (void)&a_data_policy_has_another_member<P, Text<member.size() + 1>(member)>;
    return member.empty();
  }
}
}  // namespace detail
}  // namespace sinter

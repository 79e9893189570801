// SPDX-License-Identifier: Apache-2.0
// Checks that the members of a layer are what the planner and the step can use (layer.hpp describes
// each).
#pragma once
#include <string_view>

#include "sinter/layer/context.hpp"

namespace sinter::detail {

/// True if A is an array of between one and `Most` widths.
template <class A, std::size_t Most>
constexpr bool are_widths = false;
template <std::size_t N, std::size_t Most>
constexpr bool are_widths<const std::array<int, N>, Most> = N >= 1 && N <= Most;

/// True if Aggregate has between one and four fields of the type Field, and nothing else.
template <class Aggregate, class Field>
constexpr bool is_of_fields =
    std::is_aggregate_v<Aggregate> && !std::is_empty_v<Aggregate> &&
    sizeof(Aggregate) % sizeof(Field) == 0 && sizeof(Aggregate) <= max_fields * sizeof(Field);

/// True if A is an array of at most `Most` Fields, which a layer may have instead of an aggregate.
template <class A, class Field, std::size_t Most>
constexpr bool is_list = false;
template <class Field, std::size_t N, std::size_t Most>
constexpr bool is_list<const std::array<Field, N>, Field, Most> = N <= Most;

template <class L>
concept HasWidthsIn = are_widths<decltype(L::in), max_inputs>;
template <class L>
concept HasWidthsOut = are_widths<decltype(L::out), max_outputs>;
template <class L>
concept HasParams = is_list<decltype(L::params), Param, std::size_t(-1)> ||
                    (std::same_as<decltype(L::params), const typename L::template Params<Param>> &&
                     is_of_fields<typename L::template Params<Param>, Param>);
template <class L>
concept HasSaved =
    is_list<decltype(L::saved), Keep, std::size_t(max_fields)> ||
    (std::same_as<decltype(L::saved), const typename L::template Saved<Keep, Keep>> &&
     is_of_fields<typename L::template Saved<Keep, Keep>, Keep>);
/// flops() takes Args, each a std::int64_t, and returns one. HasScratchOf requires it of scratch().
template <class L, class... Args>
concept HasFlopsOf = requires(Args... args) {
  { L::flops(args...) } -> std::convertible_to<std::int64_t>;
};
template <class L, class P, class... Args>
concept HasScratchOf = requires(Args... args) {
  { L::scratch(args...) } -> std::convertible_to<std::int64_t>;
} || requires(Args... args) {
  { L::template scratch<P>(args...) } -> std::convertible_to<std::int64_t>;
};
template <class L>
concept HasFlops = HasFlopsOf<L, std::int64_t> || HasFlopsOf<L, std::int64_t, std::int64_t>;
/// scratch() takes the rows of one or two operands. P is the precision policy.
template <class L, class P>
concept HasScratch =
    HasScratchOf<L, P, std::int64_t> || HasScratchOf<L, P, std::int64_t, std::int64_t>;

// A name that two bases have is ambiguous, whatever it names: BesideFacts finds functions of any
// signature.
template <class L>
struct BesideFacts;
struct NamesOfFunctions {
  int flops, scratch;
};
template <class L>
  requires(!std::is_final_v<L>)
struct BesideFacts<L> : L, NamesOfFunctions {};

template <class L>
concept NamesFlops = !std::is_final_v<L> && !requires { &BesideFacts<L>::flops; };
template <class L>
concept NamesScratch = !std::is_final_v<L> && !requires { &BesideFacts<L>::scratch; };

/// True if L has one result, with the rows of its operands and the width of all that are not ids.
template <class L>
constexpr bool keeps_shape() {
  if constexpr (requires { requires L::pools; }) return false;
  for (int width : L::in)
    if (width > 0 && width != L::out[0]) return false;
  return L::out.size() == 1;
}

/// A member of a layer that is missing or of the wrong kind, and what is expected of it. Both are
/// empty if nothing is wrong.
struct LayerFault {
  std::string_view member{}, expected{};
};

template <class Fact>
constexpr bool is_bool = std::same_as<Fact, const bool>;

/// The first fault among the members that describe layer L, with the precision policy P.
template <class L, class P>
constexpr LayerFault member_fault() {
  if constexpr (!std::is_empty_v<L>) return {"data", "none; all members are static"};
  if constexpr (!HasWidthsIn<L>) return {"in", "constexpr std::array of 1-4 int"};
  if constexpr (!HasWidthsOut<L>) return {"out", "constexpr std::array of 1-3 int"};
  if constexpr (requires { &L::params; } && !HasParams<L>)
    return {"params", "constexpr Params<Param> or array"};
  if constexpr (requires { &L::saved; } && !HasSaved<L>)
    return {"saved", "Saved<Keep, Keep> or array, 1-4"};
  if constexpr (requires { L::cheap; })
    if constexpr (!is_bool<decltype(L::cheap)>) return {"cheap", "constexpr bool"};
  if constexpr (requires { L::passes_gradient; }) {
    if constexpr (!is_bool<decltype(L::passes_gradient)>)
      return {"passes_gradient", "constexpr bool"};
    if constexpr (L::passes_gradient && !keeps_shape<L>())
      return {"passes_gradient", "operands as wide as its result"};
  }
  if constexpr (requires { L::loss; })
    if constexpr (!is_bool<decltype(L::loss)>) return {"loss", "constexpr bool"};
  if constexpr (requires { L::pools; })
    if constexpr (!is_bool<decltype(L::pools)>) return {"pools", "constexpr bool"};
  if constexpr (requires { L::takes_last; })
    if constexpr (!is_bool<decltype(L::takes_last)>) return {"takes_last", "constexpr bool"};
  if constexpr (requires { L::causal; })
    if constexpr (!is_bool<decltype(L::causal)>) return {"causal", "constexpr bool"};
  if constexpr (requires { L::bidirectional; })
    if constexpr (!is_bool<decltype(L::bidirectional)>) return {"bidirectional", "constexpr bool"};
  if constexpr (requires { L::skips_padding; })
    if constexpr (!is_bool<decltype(L::skips_padding)>) return {"skips_padding", "constexpr bool"};
  if constexpr (requires { L::unplanned; }) {
    if constexpr (!is_bool<decltype(L::unplanned)>) return {"unplanned", "constexpr bool"};
    if constexpr (L::unplanned && !HasObject<L, P>)
      return {"object", "unique_ptr<LayerObject> object()"};
  }
  if constexpr (requires { &L::cached; })
    if constexpr (!std::same_as<decltype(L::cached), const Cached>)
      return {"cached", "constexpr Cached"};
  if constexpr (NamesFlops<L> && !HasFlops<L>) return {"flops", "int64_t flops(context[, other])"};
  if constexpr (NamesScratch<L> && !HasScratch<L, P>)
    return {"scratch", "int64_t scratch(rows[, other])"};
  return {};
}

template <class L, class P>
concept HasForward = requires(Context<L, P>& c) { L::forward(c); };

/// The first fault among the members that compute: forward(), or object() instead.
/// requires  member_fault<L, P>() finds none
template <class L, class P>
constexpr LayerFault function_fault() {
  if constexpr (!HasObject<L, P>) {
    if constexpr (!HasForward<L, P>) return {"forward", "static void forward(auto& c)"};
    if constexpr (describe_layer<L>().cached.width > 0 && !Extends<L, P>)
      return {"extend", "extend(auto& c), as it is cached"};
  } else {
    if constexpr (!requires { requires L::unplanned; })
      return {"unplanned", "true, as it has object<P>()"};
    if constexpr (HasForward<L, P>) return {"forward", "none, as object<P>() computes"};
    if constexpr (HasBackward<L, P>) return {"backward", "none, as object<P>() computes"};
  }
  return {};
}

/// The first fault of the layer L with the precision policy P.
template <class L, class P>
constexpr LayerFault layer_fault() {
  constexpr LayerFault fault = member_fault<L, P>();
  if constexpr (fault.member.empty()) {
    return function_fault<L, P>();
  } else {
    return fault;
  }
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Every combination of precision, optimizer, memory and batch that the rules allow is verified, and
// of each other one it is known which rule refuses it. The compiler makes them: Boost.Hana's
// product of the lists, filtered by the rules.
#include <algorithm>
#include <array>
#include <boost/hana/cartesian_product.hpp>
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/partition.hpp>
#include <boost/hana/unpack.hpp>

#include "sinter/optimizer/optimizer.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/combinations.hpp"

namespace sinter::detail::testing {
template <class Tuple>
using RecipeOf = typename decltype(hana::unpack(std::declval<Tuple>(), recipe))::type;
constexpr auto is_legal = []<class T>(T) { return hana::bool_c<legal<RecipeOf<T>>>; };
/// How many of some tuples have a property. (Hana's own algorithms nest as deep as tuples are long,
/// for which clang's stack is short.)
template <class... Tuples>
constexpr int count(hana::tuple<Tuples...>*, auto has) {
  const std::array<bool, sizeof...(Tuples)> all { has.template operator()<RecipeOf<Tuples>>()... };
  return int(std::ranges::count(all, true));
}
template <class Tuples>
constexpr int count(auto has) {
  return count(static_cast<std::remove_cvref_t<Tuples>*>(nullptr), has);
}
constexpr auto all_tuples =
    hana::cartesian_product(hana::make_tuple(precisions, optimizers, memories, batches));
constexpr auto parts = hana::partition(all_tuples, is_legal);
using Legal = decltype(hana::first(parts));
using Refused = decltype(hana::second(parts));

/// Optimizers, and those that take parameters whole: they want masters in fp32, which two precisions
/// do not have.
constexpr int all_optimizers = int(decltype(hana::length(optimizers))::value);
constexpr int of_masters = hana::unpack(optimizers, [](auto... o) {
  return (int(hook::by_parameter<typename decltype(o)::type>) + ...);
});
constexpr int legal_tuples = (6 * all_optimizers - 2 * of_masters) * 5 * 5;
constexpr int refused_tuples = 2 * of_masters * 5 * 5;
static_assert(count<Legal>([]<class R> { return ready<R>(); }) == legal_tuples);
// (tests/reject has its message.)
static_assert(count<Refused>([]<class R> { return !MastersAreFloat::holds<R>; }) == refused_tuples);

}  // namespace sinter::detail::testing

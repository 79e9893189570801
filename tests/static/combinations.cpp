// Every combination of precision, optimizer, memory and batch that the rules allow is verified, and
// of each other one it is known which rule refuses it. The compiler makes them: Boost.Hana's
// product of the lists, filtered by the rules.
#include <boost/hana/all_of.hpp>
#include <boost/hana/cartesian_product.hpp>
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/partition.hpp>
#include <boost/hana/unpack.hpp>

#include "../support/combinations.hpp"
#include "sinter/plan.hpp"

namespace sinter::testing {
template <class Tuple>
using RecipeOf = typename decltype(hana::unpack(std::declval<Tuple>(), recipe))::type;
constexpr auto is_legal = []<class T>(T) { return hana::bool_c<legal<RecipeOf<T>>>; };
constexpr auto is_verified = []<class T>(T) { return hana::bool_c<ready<RecipeOf<T>>()>; };
// (tests/reject has its message.)
constexpr auto wants_fp32_masters = []<class T>(T) {
  return hana::bool_c<!MastersAreFloat::holds<RecipeOf<T>>>;
};
constexpr auto all_tuples =
    hana::cartesian_product(hana::make_tuple(precisions, optimizers, memories, batches));
constexpr auto parts = hana::partition(all_tuples, is_legal);
using Legal = decltype(hana::first(parts));
using Refused = decltype(hana::second(parts));
template <class Tuples>
constexpr int number_of = int(decltype(hana::length(std::declval<Tuples>()))::value);

static_assert(decltype(hana::all_of(std::declval<Legal>(), is_verified))::value);
static_assert(decltype(hana::all_of(std::declval<Refused>(), wants_fp32_masters))::value);
static_assert(number_of<Legal> == (4 * 7 + 2 * 4) * 5 * 5);
static_assert(number_of<Refused> == 2 * 3 * 5 * 5);

}  // namespace sinter::testing

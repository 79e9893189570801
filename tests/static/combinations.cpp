// Every combination of precision, optimizer, memory and batch that the rules allow is verified. The
// compiler makes them: Boost.Hana's product of the lists, filtered by the rules.
#include <boost/hana/all_of.hpp>
#include <boost/hana/cartesian_product.hpp>
#include <boost/hana/filter.hpp>
#include <boost/hana/integral_constant.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/unpack.hpp>

#include "../support/combinations.hpp"
#include "sinter/plan.hpp"

namespace sinter::testing {
constexpr auto is_legal = [](auto tuple) {
  return hana::bool_c<legal<typename decltype(hana::unpack(tuple, recipe))::type>>;
};
constexpr auto is_verified = [](auto tuple) {
  return hana::bool_c<ready<typename decltype(hana::unpack(tuple, recipe))::type>()>;
};
constexpr auto all_tuples =
    hana::cartesian_product(hana::make_tuple(precisions, optimizers, memories, batches));
using LegalTuples = decltype(hana::filter(all_tuples, is_legal));
static_assert(decltype(hana::all_of(std::declval<LegalTuples>(), is_verified))::value);
static_assert(decltype(hana::length(std::declval<LegalTuples>()))::value ==
              4 * 2 * (4 * 7 + 2 * 4));

}  // namespace sinter::testing

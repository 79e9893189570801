// SPDX-License-Identifier: Apache-2.0
// How Ddp cuts gradients into buckets.
#include <doctest/doctest.h>

#include "sinter/parallel/ddp.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing {
namespace {

TEST_CASE("the first bucket is small, and the others are as large as they were") {
  using Early = Plan<Tiny<Ddp<{.bucket_bytes = 30'000, .first_bucket_bytes = 1}>>>;
  using Late = Plan<Tiny<Ddp<{.bucket_bytes = 30'000, .first_bucket_bytes = 30'000}>>>;
  const auto buckets = [](std::span<const Instruction> program) {
    std::vector<std::pair<int, int>> list;
    for (const Instruction& i : program)
      if (i.kind->role == Role::reduce) list.emplace_back(i.what, i.count);
    return list;
  };
  const auto bytes = [](int first, int count) {
    std::int64_t sum = 0;
    for (const bool decayed : {true, false}) sum += Early::model.slice(first, count, decayed).size;
    return sum * Early::model.sizes.of(Type::gradient);
  };
  const auto early = buckets(Early::program), late = buckets(Late::program);
  CHECK(early[0] == std::pair(0, 1));
  CHECK(late[0].second > 1);
  int units = 0;
  for (std::size_t k = 0; k < early.size(); ++k) {
    const auto [first, count] = early[k];
    CHECK(first == units);
    units += count;
    if (k > 0 && k + 1 < early.size()) CHECK(bytes(first, count) >= 30'000);
  }
  CHECK(units == int(Early::model.order.size()));
}

}  // namespace
}  // namespace sinter::detail::testing

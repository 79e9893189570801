// SPDX-License-Identifier: Apache-2.0
// Ranks of which there is one: their transfers change nothing. On a card, this is what one card can show of
// NCCL.
#include <doctest/doctest.h>

#include "emulated/training/rank.hpp"

namespace sinter::detail::testing {
namespace {

TEST_CASE_TEMPLATE("one rank has the bits of no ranks, its transfers in the graph and without",
                   Precision, Fp32, Bf16) {
  const Trace alone = train<Tiny<Cuda<>, Precision>>({});
  for (const bool graph : {true, false}) CHECK(train<Shared<1, Precision, 2>>({}, graph) == alone);
}

TEST_CASE("one rank with shards has the bits of Ddp") {
  const Trace whole = train<Shared<1, Bf16>>({});
  CHECK(train<Shards<1, Bf16, 1>>({}) == whole);
  CHECK(train<Shards<1, Bf16, 2>>({}) == whole);
  CHECK(train<Shards<1, Bf16, 3>>({}) == whole);
}

}  // namespace
}  // namespace sinter::detail::testing

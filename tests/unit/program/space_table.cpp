// SPDX-License-Identifier: Apache-2.0
// Where spaces lie in each mode, and what a rank has of them.
#include "sinter/program/space_table.hpp"

#include <doctest/doctest.h>

#include "sinter/program/model.hpp"

namespace sinter::detail::testing {
namespace {

Model with(const StateModes& modes, int shards = 1) {
  Model model;
  model.spaces = space_table(modes);
  model.shards = shards;
  return model;
}

TEST_CASE("without a mode all state stays in the arena, whole") {
  const Model model = with({});
  CHECK(model.weights() == Space::master);
  CHECK(model.gradients() == Space::gradient);
  CHECK(model.masters() == Space::master);
  CHECK_FALSE(model.shares_update());
  CHECK_FALSE(model.has_offload());
}

TEST_CASE("ranks share the masters only where layers read a copy of them") {
  CHECK_FALSE(with({.shared = Holds::shards}, 4).shares(Space::master));
  const Model copies = with({.copies = true, .shared = Holds::shards}, 4);
  CHECK(copies.splits(Space::master));
  CHECK_FALSE(copies.shares(Space::weights));
  CHECK(copies.keeps_copy());
  CHECK_FALSE(copies.fetches_weights());
}

TEST_CASE("gradients that are not split are current in a rank's shards alone") {
  const Model whole = with({.shared = Holds::shards}, 4);
  CHECK(whole.shares(Space::gradient));
  CHECK_FALSE(whole.splits(Space::gradient));
  CHECK(whole.gradients() == Space::gradient);
  const Model split = with({.splits_gradients = true, .shared = Holds::shards}, 4);
  CHECK(split.splits(Space::gradient));
  CHECK(split.gradients() == Space::d_weights);
  CHECK_FALSE(split.shares(Space::d_weights));
  CHECK(whole.shared() == split.shared());
}

TEST_CASE("where one rank updates for all, every rank has room for all") {
  const Model model = with({.copies = true, .shared = Holds::at_root});
  CHECK(model.at_root());
  CHECK(model.shares(Space::master));
  CHECK_FALSE(model.splits(Space::master));
  CHECK(model.shared() == Holds::at_root);
}

TEST_CASE("offloaded masters and fetched weights come and go") {
  const StateModes modes{
      .fetches_weights = true, .offloads_masters = true, .shared = Holds::shards};
  const Model model = with(modes, 2);
  CHECK(model.has_offload());
  CHECK(model.masters() == Space::fetched);
  CHECK(model.splits(Space::fetched));
  CHECK(model.weights() == Space::weights);
  CHECK(model.fetches_weights());
  CHECK_FALSE(model.keeps_copy());
}

}  // namespace
}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
// Which policies and options decide what saved numbers mean: a checkpoint of a recipe that differs
// in one of them is refused, by name, and all else may differ.
#include <nlohmann/json.hpp>

#include "sinter/clipping/clip_value.hpp"
#include "sinter/error.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/schedule/cosine_decay.hpp"
#include "support/message_of.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::testing::decisive_tests {

struct Weighty {
  static constexpr std::string_view name = "weighty";
};
struct Light {
  static constexpr std::string_view name = "light";
  static constexpr bool decisive = false;
};
struct LevelOptions {
  int level = 1;
  SINTER_FIELDS((level))
};
template <class Slot, LevelOptions O = {}>
struct Level {
  using slot = Slot;
  using Options = LevelOptions;
  using rules = RuleList<>;  // else it would be refused, as it does nothing
  static constexpr Options options = O;
};

static_assert(is_decisive<slot::model>() && is_decisive<slot::data>());
static_assert(is_decisive<slot::precision>() && is_decisive<slot::optimizer>());
static_assert(!is_decisive<slot::schedule>() && !is_decisive<slot::clipping>());
static_assert(!is_decisive<slot::batch>() && !is_decisive<slot::memory>());
static_assert(!is_decisive<slot::parallel>());
static_assert(is_decisive<Weighty>() && !is_decisive<Light>());

template <class... Policies>
using Net = Made<Mlp<{.in = 3, .hidden = 8, .out = 2}>, Policies...>;
using Plain = Net<Batch<{.global = 8, .micro = 4}>>;

/// What a recipe says of another's checkpoint; nothing where it takes it.
template <class Saved, class Here>
std::string refusal(const std::string& name = "saved") {
  nlohmann::ordered_json info{{"trainer", state_json(*view_of<Saved>(), 5, 1)}};
  info["trainer"]["recipe"] = name;
  return refusal_of<FileError>(
      [&] { require_same_recipe(read_state(info.dump(), "runs/x"), *view_of<Here>(), "runs/x"); });
}
TEST_CASE("schedule, clipping, batch, memory and parallel may differ, with their options") {
  CHECK(refusal<Plain, Plain>() == "");
  using Other = Net<Batch<{.global = 12, .micro = 2}>, CosineDecay<>, ClipValue<>, Checkpoint<>,
                    Ddp<{.bucket_bytes = 4096, .ranks = 1}>>;
  CHECK(refusal<Plain, Other>() == "");
  CHECK(refusal<Other, Plain>() == "");
}

TEST_CASE("another optimizer, model or fixed option of theirs is refused by name") {
  CHECK(contains(refusal<Plain, Net<Sgd<>>>(),
                 "\n  policy: optimizer: AdamW in the checkpoint, optimizer: Sgd in this binary"));
  const std::string here = view_of<Net<Sgd<>>>()->name;
  CHECK(contains(refusal<Plain, Net<Sgd<>>>("theirs"),
                 "runs/x: it is of another recipe, theirs, and this binary is of " + here + ".\n"));
  CHECK(contains(refusal<Plain, Net<Sgd<>>>(here), "another recipe that is called " + here));
  CHECK(contains(refusal<Net<Sgd<>>, Net<Sgd<{.momentum = 0.9}>>>(),
                 "\n  optimizer.momentum: 0.0 in the checkpoint, 0.9 in this binary"));
  CHECK(refusal<Net<Sgd<>>, Net<Sgd<{.lr = 0.5}>>>() == "");  // adjustable
  CHECK(contains(refusal<Plain, Made<Mlp<{.in = 3, .hidden = 9, .out = 2}>>>(), "model.hidden: 8"));
}

TEST_CASE("a slot of one's own is decisive, unless it says that it is not") {
  CHECK(refusal<Net<Level<Weighty>>, Net<Level<Weighty>>>() == "");
  CHECK(contains(refusal<Net<Level<Weighty>>, Net<Level<Weighty, {2}>>>(), "weighty.level: 1"));
  CHECK(contains(refusal<Plain, Net<Level<Weighty>>>(), "policy: nothing in the checkpoint"));
  CHECK(refusal<Net<Level<Light>>, Net<Level<Light, {2}>>>() == "");
  CHECK(refusal<Plain, Net<Level<Light>>>() == "");
  // Of a slot that the binary does not have, the checkpoint says so.
  CHECK(refusal<Net<Level<Light>>, Plain>() == "");
}

}  // namespace sinter::detail::testing::decisive_tests

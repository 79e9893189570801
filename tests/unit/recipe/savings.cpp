// SPDX-License-Identifier: Apache-2.0
// What describe says that techniques would save, against recipes that use them.
#include "sinter/recipe/savings.hpp"

#include "cli/savings.hpp"
#include "sinter/clipping/clip_value.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/recipe/techniques.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {
namespace {

using Text = Gpt2<{.layers = 4, .heads = 4, .width = 64, .vocabulary = 50, .positions = 32}>;
template <int Micro, class... Policies>
using Net = Made<Text, UpTo<32, 50>, Batch<{.global = 8, .micro = Micro}>, Policies...>;
template <class... Policies>
using Wide = Made<Mlp<{.in = 64, .hidden = 128, .out = 8, .layers = 4}>,
                  Batch<{.global = 8, .micro = 8}>, Policies...>;

std::int64_t total(const std::vector<Saving>& list, std::string_view technique) {
  for (const Saving& s : list)
    if (s.technique.starts_with(technique)) return s.total;
  return -1;
}

std::vector<Saving> savings_of(const std::shared_ptr<RecipeView>& recipe) {
  return savings(*recipe->plan, recipe->alternatives());
}

TEST_CASE("each figure is what the recipe with the technique plans, to the byte") {
  auto list = savings_of(view_of<Net<4>>());
  CHECK(total(list, "Batch<{.micro = 2}>") == Plan<Net<2>>::bytes);
  CHECK(total(list, "Batch<{.micro = 1}>") == Plan<Net<1>>::bytes);
  CHECK(total(list, "Checkpoint<{.policy = selective}>") ==
        Plan<Net<4, Checkpoint<{.policy = selective}>>>::bytes);
  CHECK(total(list, "Checkpoint<>") == Plan<Net<4, Checkpoint<>>>::bytes);
  CHECK(total(list, "Sgd<>") == Plan<Net<4, Sgd<>>>::bytes);
  CHECK(total(list, "AdamW8bit<>") == Plan<Net<4, AdamW8bit<>>>::bytes);
  CHECK(total(list, "Adafactor<>") == Plan<Net<4, Adafactor<>>>::bytes);
  list = savings_of(view_of<Wide<>>());
  CHECK(total(list, "Bf16") == -1);  // its copy of the weights is larger than what it saves
  CHECK(Plan<Wide<Bf16>>::bytes > Plan<Wide<>>::bytes);
  CHECK(total(list, "Fp16<{.masters = false}>") == Plan<Wide<Fp16<{.masters = false}>>>::bytes);
}

template <class Memory>
void smaller_micro_batches_of() {
  const auto list = savings_of(view_of<Net<4, Memory>>());
  CHECK(total(list, "Batch<{.micro = 2}>") == Plan<Net<2, Memory>>::bytes);
  CHECK(total(list, "Batch<{.micro = 1}>") == Plan<Net<1, Memory>>::bytes);
  CHECK(total(list, "Sgd<>") == Plan<Net<4, Memory, Sgd<>>>::bytes);
}
TEST_CASE("savings keep the recomputation that a recipe already has") {
  smaller_micro_batches_of<Checkpoint<>>();
  smaller_micro_batches_of<Checkpoint<{.every = 2}>>();
  using Selective = Checkpoint<{.policy = selective}>;
  using EverySecond = Checkpoint<{.policy = selective, .every = 2}>;
  smaller_micro_batches_of<Selective>();
  smaller_micro_batches_of<EverySecond>();
  const auto list = savings_of(view_of<Net<4, EverySecond>>());
  CHECK(total(list, "Checkpoint<{.policy = selective}>") == Plan<Net<4, Selective>>::bytes);
  CHECK(total(list, "Checkpoint<>") == Plan<Net<4, Checkpoint<>>>::bytes);
}

/// Attention takes some workspace of its own in narrow types, which the plan in fp32 does not show.
TEST_CASE("the figure of half precision lacks only the workspace of attention") {
  const auto figure = double(total(savings_of(view_of<Net<4>>()), "Bf16"));
  CHECK(figure <= double(Plan<Net<4, Bf16>>::bytes));
  CHECK(figure > .95 * double(Plan<Net<4, Bf16>>::bytes));
}

TEST_CASE("savings are right whatever else the recipe has") {
  auto list = savings_of(view_of<Net<4, Bf16>>());
  CHECK(total(list, "AdamW8bit<>") == Plan<Net<4, Bf16, AdamW8bit<>>>::bytes);
  list = savings_of(view_of<Net<4, Average<>>>());
  CHECK(total(list, "AdamW8bit<>") == Plan<Net<4, Average<>, AdamW8bit<>>>::bytes);
  CHECK(total(list, "Lion<>") == Plan<Net<4, Average<>, Lion<>>>::bytes);
  list = savings_of(view_of<Net<4, Checkpoint<{.every = 2}>>>());
  CHECK(total(list, "Checkpoint<>") == Plan<Net<4, Checkpoint<>>>::bytes);
  CHECK(total(list, "Checkpoint<{.policy = selective}>") ==
        Plan<Net<4, Checkpoint<{.policy = selective}>>>::bytes);
  CHECK(total(savings_of(view_of<Wide<Fp64>>()), "Fp32") == Plan<Wide<>>::bytes);
}

TEST_CASE("a technique that a recipe has already, or may not have, is not offered") {
  const auto small = view_of<Net<1, Fp16<{.masters = false}>, Checkpoint<>, Sgd<>>>();
  CHECK(savings_of(small).empty());
  CHECK(cli::savings_text(*small).find("bytes a parameter") != std::string::npos);
  auto list = savings_of(view_of<Net<4, AdamW8bit<>>>());
  CHECK(total(list, "AdamW8bit<>") == -1);
  CHECK(total(list, "Fp16<{.masters = false}>") == -1);
  CHECK(total(list, "Bf16") > 0);
  list = savings_of(view_of<Net<4, ClipValue<>>>());
  CHECK(total(list, "AdamW8bit<>") == -1);
  CHECK(total(list, "Adafactor<>") == -1);
  CHECK(total(list, "Lion<>") > 0);
  // Its own rule is about momentum that others do not have.
  CHECK(total(savings_of(view_of<Net<4, Sgd<{.momentum = .9, .nesterov = true}>>>()),
              "Sgd<> without momentum") == Plan<Net<4, Sgd<>>>::bytes);
}

TEST_CASE("the technique that costs least is listed first") {
  const auto recipe = view_of<Net<4>>();
  const std::string text = cli::savings_text(*recipe);
  std::size_t at = text.find("try in this order what costs least");
  REQUIRE(at != text.npos);
  int number = 0;
  for (const char* words :
       {"Batch<{.micro = 2}>, accumulating", "Checkpoint<{.policy = selective}>", "Bf16",
        "Batch<{.micro = 1}>, accumulating", "Checkpoint<>, recomputing whole units", "AdamW8bit<>",
        "Adafactor<>", "Budget<{.bytes = …}> chooses among the first by itself"}) {
    const std::string line = "\n        " + std::to_string(++number) + ". " + words + "\n";
    CAPTURE(line);
    const std::size_t found = text.find(line, at);
    REQUIRE(found != text.npos);
    at = found;
  }
  CHECK(text.find("\n", at + 1) == text.size() - 1);  // and nothing else
}

}  // namespace
}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
// The combinations that ./sinter tune plans for a recipe.
#include "tune/grid.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "sinter/data/json_lines.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/schedule/constant.hpp"
#include "support/recipes.hpp"
#include "tune/grid_text.hpp"

namespace sinter::detail::testing::grid_tests {
namespace {
using namespace tune;

using Net = Mlp<{.in = 64, .hidden = 128, .out = 8, .layers = 3}>;
struct mine : Recipe<Net, Batch<{.global = 8, .micro = 4}>> {};

/// Keeps all, as a policy of one's own.
struct OwnMemory {
  using slot = sinter::slot::memory;
  static constexpr bool recomputed_inside(const Layer&) { return false; }
};
struct offers : Recipe<Net, Batch<{.global = 8, .micro = 4}>> {
  using candidates = Candidates<OwnMemory, Fp16<>, Batch<{.global = 16, .micro = 4}>>;
};
/// Without a hidden layer Muon has nothing to do.
struct shallow : Recipe<Mlp<{.in = 8, .out = 8, .layers = 2}>, Batch<{.global = 8, .micro = 4}>> {
  using candidates = Candidates<Muon<>>;
};
using Text = Gpt2<{.layers = 1, .heads = 2, .width = 32, .vocabulary = 258, .positions = 32}>;
struct replies : Recipe<Text, JsonLines<"question", "answer", {.text = 16, .label = 16}>> {};

template <class R, class Slot>
using ChoicesOf = typename Choices<R, Slot, 2>::type;

const Row* row_with(const Grid& grid, const std::vector<std::string>& changed) {
  const auto found = std::ranges::find(grid.rows, changed, &Row::changed);
  return found == grid.rows.end() ? nullptr : &*found;
}

/// Three memory policies, four micro-batches, one rank and two.
const Grid& small_grid() {
  static const Grid grid = grid_of<mine, "memory,batch,parallel", 2>();
  return grid;
}

TEST_CASE("each combination of what is tried is one row, and the recipe is the first") {
  CHECK(small_grid().recipe == "mine");
  CHECK(small_grid().slots == std::vector<std::string>{"memory", "batch", "parallel"});
  CHECK(small_grid().rows.size() == 3 * 4 * 2);
  CHECK(small_grid().rows.front().changed.empty());
  std::set<std::vector<std::string>> all;
  for (const Row& row : small_grid().rows) {
    CHECK(row.policies.size() == 3);
    all.insert(row.policies);
  }
  CHECK(all.size() == small_grid().rows.size());
}

TEST_CASE("a row plans what the recipe with its policies plans, to the byte") {
  CHECK(small_grid().rows.front().bytes() == Plan<mine>::bytes);
  const Row* least = row_with(small_grid(), {"Checkpoint<>", "Batch<{.micro = 2}>"});
  REQUIRE(least);
  CHECK(least->bytes() == Plan<Recipe<Net, Checkpoint<>, Batch<{.global = 8, .micro = 2}>>>::bytes);
  CHECK(least->micro == 2);
  const Row* two = row_with(small_grid(), {"Ddp<>"});
  REQUIRE(two);
  CHECK(two->ranks == 2);
  CHECK(two->arena == Plan<Recipe<Net, Batch<{.global = 8, .micro = 4}>, Ddp<>>>::bytes);
  CHECK(two->bytes() == 2 * two->arena);
  CHECK(two->flops == 8 * Plan<mine>::flops_per_token);
  const Grid precisions = grid_of<mine, "precision", 2>();
  const Row* half = row_with(precisions, {"Bf16"});
  REQUIRE(half);
  CHECK(half->bytes() == Plan<Recipe<Net, Batch<{.global = 8, .micro = 4}>, Bf16>>::bytes);
}

TEST_CASE("a combination that the rules refuse is a row with the reason") {
  for (const Row& row : small_grid().rows) {
    const bool divides = row.policies[1] != "Batch<>" || row.ranks == 1;  // 8 sequences, micro 8
    CHECK(row.reason == (divides ? "" : "micro × ranks does not divide global"));
    CHECK((row.arena > 0) == divides);
  }
  const Grid optimizers = grid_of<shallow, "optimizer", 2>();
  const Row* muon = row_with(optimizers, {"Muon<>"});
  REQUIRE(muon);
  CHECK(muon->reason == "Muon finds no hidden matrix in the model");
}

TEST_CASE("only the slots that may change differ") {
  const Grid grid = grid_of<mine, "memory", 2>();
  CHECK(grid.slots == std::vector<std::string>{"memory"});
  CHECK(grid.rows.size() == 3);
  const Grid none = grid_of<mine, "batching", 2>();  // rows of numbers are no examples
  CHECK(none.slots.empty());
  CHECK(none.rows.size() == 1);
}

TEST_CASE("optimizers take part where their slot may change") {
  static_assert(std::is_same_v<ChoicesOf<mine, slot::optimizer>,
                               PolicyList<AdamW<>, AdamW8bit<>, Adafactor<>>>);
  CHECK(grid_of<mine, "optimizer", 2>().rows.size() == 3);
}

TEST_CASE("candidates of the recipe take part") {
  using Own = Batch<{.global = 8, .micro = 4}>;
  static_assert(
      std::is_same_v<ChoicesOf<offers, slot::precision>, PolicyList<Fp32, Tf32, Bf16, Fp16<>>>);
  static_assert(std::is_same_v<
                ChoicesOf<offers, slot::batch>,
                PolicyList<Own, Batch<{.global = 8, .micro = 8}>, Batch<{.global = 8, .micro = 2}>,
                           Batch<{.global = 8, .micro = 1}>, Batch<{.global = 16, .micro = 4}>>>);
  const Grid grid = grid_of<offers, "memory", 2>();
  REQUIRE(grid.rows.size() == 4);
  REQUIRE(grid.rows[3].changed.size() == 1);
  CHECK(grid.rows[3].changed.front().ends_with("OwnMemory"));
}

TEST_CASE("data with examples are packed and padded") {
  static_assert(std::is_same_v<ChoicesOf<replies, slot::batching>, PolicyList<Packed, Padded>>);
  struct padded : Recipe<Text, JsonLines<"question", "answer", {.text = 16, .label = 16}>, Padded> {
  };
  static_assert(std::is_same_v<ChoicesOf<padded, slot::batching>, PolicyList<Padded, Packed>>);
}

TEST_CASE("ranks are powers of two up to the most") {
  static_assert(std::is_same_v<Ranks<1>, PolicyList<>>);
  static_assert(std::is_same_v<Ranks<3>, PolicyList<Ddp<{.ranks = 2}>>>);
  static_assert(Ranks<8>::count == 3);
}

TEST_CASE("micro-batches are divisors of the global batch, from twice the own one down") {
  CHECK(micro_batches({.global = 64, .micro = 16}) == std::array{32, 16, 8, 4});
  CHECK(micro_batches({.global = 8, .micro = 8}) == std::array{8, 4, 2, 1});
  CHECK(micro_batches({.global = 24, .micro = 12}) == std::array{24, 12, 6, 3});
  CHECK(micro_batches({.global = 9, .micro = 3}) == std::array{3, 0, 0, 0});
}

TEST_CASE("a slot is found by its whole name") {
  CHECK(has_slot("precision,batching", "batching"));
  CHECK(!has_slot("precision,batching", "batch"));
  CHECK(!has_slot("", "batch"));
}

TEST_CASE("a policy is spelled as one writes it") {
  CHECK(policy_text<Fp32>() == "Fp32");
  CHECK(policy_text<AdamW<>>() == "AdamW<>");
  CHECK(policy_text<Checkpoint<{.policy = selective, .every = 2}>>() ==
        "Checkpoint<{.policy = selective, .every = 2}>");
  CHECK(policy_text<Ddp<{.compression = GradientCompression::bf16, .ranks = 4}>>() ==
        "Ddp<{.compression = GradientCompression::bf16, .ranks = 4}>");
  CHECK(policy_text<Fp16<{.masters = false, .initial_scale = 0.5}>>() ==
        "Fp16<{.masters = false, .initial_scale = 0.5}>");
}

TEST_CASE("the table has what fits, the smallest first, and counts the rest") {
  const Grid grid{"mine",
                  {"memory"},
                  {{{"KeepAll"}, {}, "", 1, 4, 3 << 20, 2'000'000'000},
                   {{"Checkpoint<>"}, {"Checkpoint<>"}, "", 1, 4, 1 << 20, 2'000'000'000},
                   {{"Ddp<>"}, {"Ddp<>"}, "", 2, 4, 3 << 20, 2'000'000'000},
                   {{"Odd"}, {"Odd"}, "it is odd"}}};
  const std::string all = grid_text(grid, {});
  CHECK(all.find("recipe  mine: 4 combinations of memory\n") == 0);
  CHECK(all.find("3 fit\n") != all.npos);
  CHECK(all.find("with\n             1.0 MiB      1      4  Checkpoint<>\n") != all.npos);
  CHECK(all.find("1 are no recipe\n                   1  it is odd, as in Odd\n") != all.npos);
  const std::string cut = grid_text(grid, {4 << 20});
  CHECK(cut.find("2 fit\n") != cut.npos);
  CHECK(cut.find("1 do not fit in 4.0 MiB; the smallest of them plans 6.0 MiB, with Ddp<>\n") !=
        cut.npos);

  const auto json = grid_json(grid, {4 << 20});
  CHECK(json["rows"].size() == 4);
  CHECK(json["rows"][0]["verdict"] == "fits");
  CHECK(json["rows"][2]["verdict"] == "too large");
  CHECK(json["rows"][2]["planned_bytes"] == 6 << 20);
  CHECK(json["rows"][3]["verdict"] == "no recipe");
  CHECK(json["rows"][3]["reason"] == "it is odd");
  CHECK(json["rows"][1]["policies"]["memory"] == "Checkpoint<>");
}

}  // namespace
}  // namespace sinter::detail::testing::grid_tests

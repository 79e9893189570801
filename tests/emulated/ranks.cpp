// SPDX-License-Identifier: Apache-2.0
// Ddp, Zero and SplitBatch over ranks that have a device each, on the emulated one; in place of its communicator a card has
// NCCL.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

#include "cli/launched.hpp"
#include "emulated/on_world.hpp"
#include "emulated/training/rank.hpp"
#include "support/message_of.hpp"

namespace sinter::detail::testing {
namespace {

template <class R>
std::vector<Trace> train_all(bool graph = true) {
  return on_world(R::parallel::options.ranks,
                  [&](const World& world) { return train<R>(world, graph); });
}

TEST_CASE("ranks have the same bits, and those of one rank to rounding") {
  const auto check = [](const std::vector<Trace>& all, const Trace& alone, double bound) {
    for (const Trace& trace : all) CHECK(trace == all[0]);
    for (std::size_t s = 0; s < alone.steps.size(); ++s) {
      CAPTURE(s);
      CHECK(relative_difference(all[0].steps[s].loss, alone.steps[s].loss) < bound);
      CHECK(relative_difference(all[0].steps[s].norm, alone.steps[s].norm) < 10 * bound);
      kernel::Votes sum;
      for (int rank = 0; rank < int(all.size()); ++rank) {
        const kernel::Votes own = votes_of(rank, int(s));
        sum = {sum.stop + own.stop, sum.save + own.save, sum.done + own.done,
               sum.failed + own.failed};
      }
      CHECK(all[0].votes[s] == sum);
    }
    CHECK(relative_difference(all[0].evaluated, alone.evaluated) < bound);
  };
  // The bounds are those of tests/emulated/training.cpp, and for its reason: other orders of sums.
  SUBCASE("2 ranks, Fp64") {
    check(train_all<Shared<2, Fp64>>(), train<Tiny<Cuda<>, Fp64>>({}), 1e-12);
  }
  SUBCASE("2 ranks, Bf16") {
    check(train_all<Shared<2, Bf16>>(), train<Tiny<Cuda<>, Bf16>>({}), 1e-2);
  }
  SUBCASE("4 ranks, Fp32") {
    check(train_all<Shared<4, Fp32>>(), train<Tiny<Cuda<>, Fp32>>({}), 1e-5);
  }
}

TEST_CASE("transfers in a graph have the bits of direct ones") {
  CHECK(train_all<Shared<2, Fp16<>>>() == train_all<Shared<2, Fp16<>>>(false));
}

TEST_CASE_TEMPLATE("ranks with shards have the bits of Ddp", Precision, Fp32, Bf16) {
  const std::vector<Trace> whole = train_all<Shared<2, Precision>>();
  for (const bool graph : {true, false}) {
    const std::vector<Trace> split = train_all<Shards<2, Precision>>(graph);
    for (const Trace& trace : split) {
      CHECK(trace.parameters == whole[0].parameters);
      for (std::size_t s = 0; s < trace.steps.size(); ++s)
        CHECK(trace.steps[s].loss == whole[0].steps[s].loss);
    }
  }
}

TEST_CASE_TEMPLATE("one rank that updates for all has the bits of Ddp", Precision, Fp32, Bf16) {
  std::vector<Trace> all = train_all<Shared<2, Precision>>();
  all[1].parameters.clear();
  for (const bool graph : {true, false}) CHECK(train_all<AtRoot<2, Precision>>(graph) == all);
}

TEST_CASE("gradients move as bf16 on a device as on the CPU, directly and in a graph") {
  using Narrow = Made<TinyGpt, UpTo<context, vocabulary>, Batch<{.global = 4, .micro = 1}>,
                      AdamW<{.lr = 1e-2, .weight_decay = .1}>, Fp32, Cuda<>,
                      Ddp<{.bucket_bytes = 10'000, .compression = GradientCompression::bf16}>>;
  const std::vector<Trace> narrow = train_all<Narrow>(), wide = train_all<Shared<2>>();
  CHECK(train_all<Narrow>(false) == narrow);
  CHECK(narrow[0] == narrow[1]);
  CHECK(narrow[0].parameters != wide[0].parameters);
  CHECK(narrow[0].steps[0].loss == wide[0].steps[0].loss);
}

TEST_CASE_TEMPLATE("ranks with shards of gradients have the same bits, in a graph and without",
                   Precision, Fp64, Bf16) {
  const std::vector<Trace> whole = train_all<Shared<2, Precision>>();
  const std::vector<Trace> split = train_all<Shards<2, Precision, 2>>();
  CHECK(split == train_all<Shards<2, Precision, 2>>(false));
  CHECK(split[0] == split[1]);
  // Of two micro-batches, the order of sums is another.
  const double bound = std::is_same_v<Precision, Fp64> ? 1e-12 : 1e-2;
  for (std::size_t s = 0; s < whole[0].steps.size(); ++s)
    CHECK(relative_difference(split[0].steps[s].loss, whole[0].steps[s].loss) < bound);
}

TEST_CASE(
    "ranks that fetch weights have the bits of those that have them, in a graph and without") {
  const std::vector<Trace> kept = train_all<Shards<2, Bf16, 2>>();
  for (const bool graph : {true, false}) CHECK(train_all<Shards<2, Bf16, 3>>(graph) == kept);
}

TEST_CASE("a rank that ends is noticed by those that wait for it") {
  const auto said = on_world(2, [](const World& world) {
    Trainer<Shared<2>> trainer({.seed = 3, .threads = 1, .world = world});
    if (world.rank == 1) return std::string();
    return message_of<Error>([&] { take_step(trainer, 0); });
  });
  CHECK(said[0].find("waits for ranks that have stopped") != std::string::npos);
}

TEST_CASE("a launched rank has the card of its number on its host, or the one that it sees") {
  const auto card_of = [](const std::map<std::string, std::string>& told) {
    for (const auto& [name, value] : told) setenv(name.c_str(), value.c_str(), 1);
    const auto recipe = Trainer<Shared<2>>::options();
    cli::Arguments arguments;
    arguments.verb = cli::Verb::train;
    arguments.out = "run";
    cli::take_launched_world(*recipe, arguments);
    for (const auto& [name, value] : told) unsetenv(name.c_str());
    return *std::get<int*>(
        std::ranges::find(recipe->options, "device.card", &Option::dotted)->value);
  };
  using Told = std::map<std::string, std::string>;
  Told here{{"SINTER_RANK", "1"}, {"SINTER_RANKS", "2"}, {"SINTER_WORLD", "w"}};
  CHECK(card_of(here) == 1);
  here["CUDA_VISIBLE_DEVICES"] = "4,6";
  CHECK(card_of(here) == 1);
  here["CUDA_VISIBLE_DEVICES"] = "6";
  CHECK(card_of(here) == 0);
  CHECK(card_of({{"RANK", "3"},
                 {"WORLD_SIZE", "4"},
                 {"LOCAL_RANK", "1"},
                 {"LOCAL_WORLD_SIZE", "2"},
                 {"MASTER_ADDR", "127.0.0.1"},
                 {"MASTER_PORT", "29500"}}) == 1);
}

TEST_CASE("impossible worlds of ranks on cards are refused") {
  const auto says = [](World world, const char* what, auto recipe) {
    using R = decltype(recipe);
    const std::string said = message_of<Error>([&] {
      const Trainer<R> trainer(TrainerSettings{.threads = 1, .world = std::move(world)});
    });
    INFO(said);
    CHECK(said.find(what) != std::string::npos);
  };
  says({}, "parallel.ranks is 2, and there is one process", Shared<2>{});
  says({0, 3, "x"}, "make parallel.ranks 3", Shared<2>{});
  says({2, 2, "x"}, "counted from 0 to 1", Shared<2>{});
  says({0, 2, ""}, "world.id is empty", Shared<2>{});
  says({1, 2, "x"}, "no ranks that are processes", Tiny<Cuda<>, Fp32>{});
}

}  // namespace
}  // namespace sinter::detail::testing

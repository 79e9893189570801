// SPDX-License-Identifier: Apache-2.0
// Trainers in processes that are ranks have the bits of one trainer whose ranks are threads.
#include <bit>

#include "sinter/clipping/clip_norm.hpp"
#include "sinter/device/cpu.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/precision/bf16.hpp"
#include "sinter/precision/fp16.hpp"
#include "sinter/precision/fp32.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/batches.hpp"
#include "support/message_of.hpp"
#include "support/rank_processes.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::process_trainers_tests {

constexpr int context = 12, vocabulary = 29;

/// Two ranks have four micro-batches each.
template <class Precision, class... Policies>
using Tiny =
    Made<Gpt2<{.layers = 2,
               .heads = 2,
               .width = 32,
               .vocabulary = vocabulary,
               .positions = context,
               .dropout = .1}>,
         UpTo<context, vocabulary>, Batch<{.global = 8, .micro = 1}>,
         AdamW<{.lr = 1e-2, .weight_decay = .1}>, ClipNorm<{.max = .5}>, Precision, Policies...>;
template <class Precision>
using Shared = Tiny<Precision, Ddp<{.bucket_bytes = 10'000}>>;

/// Of sequences with other lengths in each step, and now and then fewer than a global batch has.
HostBatch batch_of(int step) {
  const std::vector<int> lengths[]{
      {12, 7, 12, 3, 1, 12, 5, 9}, {12, 12, 12, 12, 12, 12, 12, 12}, {5, 12, 1, 9, 2}};
  return token_batch(lengths[step % 3], vocabulary, std::uint64_t(step) + 1, .2);
}

/// All that steps leave, as text that tells every bit.
template <class R>
std::string train(int ranks, int steps, const World& world, int threads) {
  const auto view = Trainer<R>::options();
  for (Option& option : view->options)
    if (option.dotted() == "parallel.ranks") *std::get<int*>(option.value) = ranks;
  Trainer<R> trainer(view, {.seed = 3, .threads = threads, .world = world});
  std::string trace;
  const auto add = [&](double x) {
    trace += std::to_string(std::bit_cast<std::uint64_t>(x)) + " ";
  };
  for (int s = 0; s < steps; ++s) {
    const Outcome outcome = trainer.step(batch_of(s));
    if (const auto* skipped = std::get_if<Skipped>(&outcome)) {
      trace += "skipped ";
      add(skipped->loss.sum);
    } else {
      add(std::get<Applied>(outcome).loss.sum);
      add(std::get<Applied>(outcome).gradient_norm);
    }
  }
  for (const auto& [name, values] : parameters_of(trainer)) {
    trace += "\n" + name + " ";
    for (double x : values) add(x);
  }
  return trace;
}

template <class R>
void check_processes(const std::vector<World>& worlds) {
  const int ranks = int(worlds.size());
  CAPTURE(ranks);
  constexpr int steps = 20;
  RankProcesses processes(worlds, [&](const World& world, const RankProcesses::Say&) {
    return train<R>(ranks, steps, world, 1 + world.rank % 2);
  });
  const std::string want = train<R>(ranks, steps, {}, ranks);
  const std::vector<std::string> got = processes.results();
  for (int r = 0; r < ranks; ++r) {
    CAPTURE(r);
    CHECK((got[std::size_t(r)] == want));
    if (got[std::size_t(r)] != want) MESSAGE(got[std::size_t(r)].substr(0, 400));
  }
}

TEST_CASE_TEMPLATE("trainers in processes have the bits of ranks that are threads", Precision, Fp32,
                   Fp64, Bf16, Fp16<>) {
  check_processes<Shared<Precision>>(RankProcesses::worlds_of(2));
  check_processes<Shared<Precision>>(RankProcesses::worlds_of(4));
}

TEST_CASE_TEMPLATE("trainers in processes of several hosts have the bits of ranks that are threads",
                   Precision, Fp32, Bf16) {
  check_processes<Shared<Precision>>(RankProcesses::worlds_of_hosts({1, 1}));
  check_processes<Shared<Precision>>(RankProcesses::worlds_of_hosts({2, 1, 1}));
}

TEST_CASE("a trainer refuses a world that is not that of its ranks") {
  const auto says = [](World world, const char* what, auto recipe) {
    using R = decltype(recipe);
    const std::string said = message_of<ArgumentError>([&] {
      const Trainer<R> trainer(TrainerSettings{.threads = 1, .world = std::move(world)});
    });
    INFO(said);
    CHECK(said.find(what) != std::string::npos);
  };
  says({0, 3, "x"}, "parallel.ranks is 2, and there are", Shared<Fp32>{});
  says({0, 1, "x"}, "parallel.ranks is 2, and there is one process", Shared<Fp32>{});
  says({2, 2, "x"}, "counted from 0 to 1", Shared<Fp32>{});
  says({0, 2, ""}, "shared_memory_world_id()", Shared<Fp32>{});
  says({1, 2, "x"}, "no ranks that are processes", Tiny<Fp32>{});
}

}  // namespace sinter::detail::testing::process_trainers_tests

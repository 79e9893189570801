// SPDX-License-Identifier: Apache-2.0
// SplitBatch over processes: the bits of threads, all of it from the first rank.
#include "sinter/memory/offload.hpp"
#include "sinter/parallel/split_batch.hpp"
#include "sinter/parameters/average.hpp"
#include "support/message_of.hpp"
#include "support/rank_processes.hpp"
#include "unit/files/support.hpp"
#include "unit/parallel/zero_recipes.hpp"

namespace sinter::detail::testing {
namespace {

template <class... Policies>
using Averaged = Tiny<Decaying, Clipped, Average<{.decay = .9}>, Policies...>;

std::string bits_of(const Numbers& numbers) {
  std::string text;
  for (double x : numbers) text += std::to_string(std::bit_cast<std::uint64_t>(x)) + " ";
  return text;
}

/// What each rank knows of some steps: figures, and a loss by the weights that they leave.
std::string known_to_all(TrainerCore& trainer, int first, int last) {
  const Figures figures = take_steps(trainer, first, last);
  return bits_of(figures.losses) + bits_of(figures.norms) +
         bits_of({trainer.evaluate(batch_of(1)).sum});
}

/// Steps, a checkpoint of the first rank that all resume from, and further steps.
template <class R>
std::string train(const fs::path& folder, const World& world, int threads) {
  Trainer<R> trainer({.seed = 3, .threads = threads, .world = world});
  std::string text = known_to_all(trainer, 0, 12);
  if (world.rank == 0) trainer.save(folder / "saved");
  text += known_to_all(trainer, 12, 14);  // by then the first rank has saved
  trainer.load(folder / "saved");
  text += known_to_all(trainer, 12, 16);
  if (world.rank != 0) return text;
  for (const auto& [name, values] : all_of(trainer)) text += "\n" + name + " " + bits_of(values);
  return text + get(folder / "saved" / "model.safetensors") +
         get(folder / "saved" / "state.safetensors");
}

/// Checks that R over processes has the bits of R over threads, and of Other over threads.
template <class R, class Other>
void check_ranks(int ranks) {
  CAPTURE(ranks);
  const TemporaryFolder folder, of_threads, of_other;
  RankProcesses processes(ranks, [&](const World& world, const RankProcesses::Say&) {
    return train<R>(folder.path(), world, 1);
  });
  const std::string want = train<R>(of_threads.path(), {}, ranks);
  CHECK((want == train<Other>(of_other.path(), {}, ranks)));
  const std::vector<std::string> got = processes.results();
  CHECK((got[0] == want));
  for (std::size_t r = 1; r < got.size(); ++r) {
    CAPTURE(r);
    CHECK_MESSAGE(want.starts_with(got[r]), got[r]);
    CHECK(got[r].size() > 100);
  }
}

TEST_CASE_TEMPLATE("processes of SplitBatch have the bits of threads, and of Ddp", Precision, Fp32,
                   Bf16) {
  check_ranks<Averaged<SplitBatch<{.ranks = 2}>, Precision>, Averaged<Whole<2>, Precision>>(2);
  check_ranks<Averaged<SplitBatch<{.ranks = 4}>, Precision>, Averaged<Whole<4>, Precision>>(4);
}

TEST_CASE("processes of SplitBatch have the bits of Ddp if the first keeps state in a file") {
  using InFile = Averaged<SplitBatch<{.ranks = 2}>, Bf16, Offload<{.bucket_bytes = 1}>>;
  check_ranks<InFile, Averaged<Whole<2>, Bf16>>(2);
}

/// What a rank says when it is asked for what the first one alone keeps.
std::string asked(const fs::path& folder, const World& world) {
  Trainer<Averaged<SplitBatch<>, Bf16>> trainer({.seed = 3, .threads = 1, .world = world});
  take_steps(trainer, 0, 2);
  const std::string name = trainer.parameters()[0].name;
  const fs::path mine = folder / std::to_string(world.rank);
  Snapshot snapshot;
  if (world.rank == 0) {
    trainer.save(mine);
    trainer.copy_content(snapshot);
    return trainer.parameter(name) != trainer.gradient(name) ? "fine" : "";
  }
  std::set<std::string> said;
  const auto ask = [&](const auto& act) { said.insert(message_of<Error>(act)); };
  ask([&] { (void)trainer.parameter(name); });
  ask([&] { trainer.save(mine); });
  ask([&] { trainer.export_to(folder / "exported"); });
  ask([&] { trainer.copy_content(snapshot); });
  CHECK(said.size() == 1);
  ask([&] { (void)trainer.gradient(name); });
  ask([&] { (void)trainer.state("exp_avg", name); });
  ask([&] { (void)trainer.state("ema", name); });
  std::string all;
  for (const std::string& message : said) all += message + "\n";
  if (fs::exists(mine) || fs::exists(folder / "exported")) all += "something is left";
  return all;
}

TEST_CASE("ranks that do not update say who has what they are asked for") {
  const TemporaryFolder folder;
  RankProcesses processes(2, [&](const World& world, const RankProcesses::Say&) {
    return asked(folder.path(), world);
  });
  const std::vector<std::string> said = processes.results();
  CHECK(said[0] == "fine");
  INFO(said[1]);
  for (const char* what :
       {"rank 1 was asked for the master of 'wte.weight', which rank 0 alone keeps",
        "the gradient of 'wte.weight'", "the state of 'wte.weight'"})
    CHECK(said[1].find(what) != std::string::npos);
  CHECK(said[1].find("something is left") == std::string::npos);
}

}  // namespace
}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
// Checkpoints that processes write together are, byte for byte, those that one process writes, and all
// ways of sharing the work go on from them.
#include "sinter/memory/offload.hpp"
#include "sinter/optimizer/muon.hpp"
#include "sinter/parallel/single.hpp"
#include "support/rank_processes.hpp"
#include "support/saved_runs.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {
namespace {

using Mode = RunFolder::Mode;
using Say = RankProcesses::Say;

template <class... Policies>
using Averaged =
    Network<AdamW<{.lr = 1e-2}>, Bf16, ClipNorm<{.max = .5}>, Average<{.decay = .9}>, Policies...>;
template <class... Policies>
using Orthogonal = Network<Muon<>, Policies...>;
using InFile = Offload<{.bucket_bytes = 1}>;
using WeightsInFile = Offload<{.weights = true, .bucket_bytes = 1}>;
template <int Ranks, int Stage>
using Split = Zero<{.stage = Stage, .bucket_bytes = 1000, .ranks = Ranks}>;
template <int Ranks>
using Whole = Ddp<{.bucket_bytes = 1000, .ranks = Ranks}>;

/// Master weights and state of all policies, as text that tells every bit.
std::string all_of(const TrainerCore& trainer) {
  std::string text;
  const auto add = [&](const std::string& name, const Numbers& values) {
    text += "\n" + name;
    for (double x : values) text += " " + std::to_string(std::bit_cast<std::uint64_t>(x));
  };
  for (const Parameter& p : trainer.parameters()) {
    add(p.name, trainer.parameter(p.name));
    for (const Region& region : trainer.plan().model.regions)
      add(std::string(region.name) + " of " + p.name, trainer.state(region.name, p.name));
  }
  return text;
}

/// Runs from the beginning up to step 6 with checkpoints, in the background and not.
template <class R>
std::string run(const fs::path& path, const World& world, int threads) {
  std::string warnings;
  for (const bool in_background : {true, false}) {
    Trainer<R> trainer({.seed = 3, .threads = threads, .world = world});
    warnings += run_network(trainer, path / (in_background ? "beside" : "between"), Mode::fresh,
                            {.steps = 6, .save_every = 2, .save_in_background = in_background});
  }
  return warnings;
}

/// What a trainer has that goes on from a checkpoint, at once and some steps later.
template <class R>
std::string resumed(const fs::path& from, const World& world, int threads) {
  Trainer<R> trainer({.seed = 4, .threads = threads, .world = world});
  trainer.load(from);
  const std::string loaded = all_of(trainer);
  HostBatch batch;
  ArrayData data(network_inputs, 3, network_targets, 2, {.sequences = 8, .seed = 9});
  for (int k = 0; k < 3; ++k) {
    data.next(batch);
    (void)trainer.step(batch);
  }
  return loaded + "\n\nlater" + all_of(trainer);
}

template <class R>
void check_run(const std::vector<World>& worlds, const fs::path& path) {
  const TemporaryFolder want;
  RankProcesses ranks(worlds, [&](World world, const Say&) { return run<R>(path, world, 1); });
  CHECK(run<R>(want.path(), {}, int(worlds.size())).empty());
  for (const std::string& warnings : ranks.results()) CHECK(warnings == "");
  for (const char* how : {"beside", "between"})
    for (const int step : {2, 4, 6}) {
      const fs::path name = fs::path(how) / step_folder_name(step);
      CAPTURE(name.string());
      check_same_tensors(path / name, want / name);
      CHECK(hidden_entries(path / how) == 0);
    }
}

/// Resumes with processes, and checks that each has what one thread each has.
template <class R>
std::string check_resumes(int processes, const fs::path& from) {
  RankProcesses ranks(processes,
                      [&](World world, const Say&) { return resumed<R>(from, world, 1); });
  const std::string want = resumed<R>(from, {}, processes);
  for (const std::string& got : ranks.results()) CHECK((got == want));
  return want.substr(0, want.find("\n\nlater"));
}

TEST_CASE(
    "four ranks of stage 3 save, and two of stage 1, two that have everything, and one go on") {
  const TemporaryFolder folder;
  check_run<Averaged<Split<4, 3>>>(RankProcesses::worlds_of(4), folder.path());
  const fs::path from = folder / "beside" / "last";
  const std::string loaded = check_resumes<Averaged<Split<2, 1>>>(2, from);
  CHECK((check_resumes<Averaged<Whole<2>>>(2, from) == loaded));
  CHECK(resumed<Averaged<Single>>(from, {}, 1).starts_with(loaded));
}

TEST_CASE("ranks that have everything write a share each, Muon's state included") {
  const TemporaryFolder folder;
  check_run<Orthogonal<Whole<3>>>(RankProcesses::worlds_of(3), folder.path());
  const fs::path from = folder / "between" / "last";
  const std::string loaded = check_resumes<Orthogonal<Whole<2>>>(2, from);
  CHECK(resumed<Orthogonal<Single>>(from, {}, 1).starts_with(loaded));
}

TEST_CASE("ranks whose state is in files save it like state in the arena, and go on from either") {
  const TemporaryFolder shards, parts;
  check_run<Averaged<Split<4, 3>, InFile>>(RankProcesses::worlds_of(4), shards.path());
  const fs::path from = shards / "beside" / "last";
  const std::string loaded = check_resumes<Averaged<Split<2, 1>>>(2, from);
  CHECK((check_resumes<Averaged<Split<2, 1>, InFile>>(2, from) == loaded));
  CHECK((check_resumes<Averaged<Whole<2>, WeightsInFile>>(2, from) == loaded));
  check_run<Orthogonal<Whole<3>, InFile>>(RankProcesses::worlds_of(3), parts.path());
  CHECK((check_resumes<Orthogonal<Whole<2>, InFile>>(2, parts / "beside" / "last") ==
         check_resumes<Orthogonal<Whole<2>>>(2, parts / "beside" / "last")));
}

TEST_CASE("ranks whose state and weights are in files save them, and go on from any") {
  const TemporaryFolder shards, whole;
  check_run<Averaged<Split<4, 3>, WeightsInFile>>(RankProcesses::worlds_of(4), shards.path());
  const fs::path from = shards / "beside" / "last";
  const std::string loaded = check_resumes<Averaged<Split<2, 1>>>(2, from);
  CHECK((check_resumes<Averaged<Split<2, 3>, WeightsInFile>>(2, from) == loaded));
  check_run<Averaged<Whole<3>, WeightsInFile>>(RankProcesses::worlds_of(3), whole.path());
}

TEST_CASE("ranks of several hosts that share a folder save it together") {
  const TemporaryFolder folder;
  check_run<Averaged<Split<4, 3>>>(RankProcesses::worlds_of_hosts({1, 2, 1}), folder.path());
}

TEST_CASE("if a rank does not see the folder, the first writes everything, and says so once") {
  const auto check = [&]<class R>(R*, int count) {
    const TemporaryFolder folder, elsewhere, want;
    RankProcesses ranks(count, [&](const World& world, const Say&) {
      Trainer<R> trainer({.seed = 3, .threads = 1, .world = world});
      return run_network(trainer, (world.rank == 1 ? elsewhere : folder) / "run", Mode::fresh,
                         {.steps = 4, .save_every = 2});
    });
    Trainer<R> trainer({.seed = 3, .threads = count});
    run_network(trainer, want / "run", Mode::fresh, {.steps = 4, .save_every = 2});
    const std::vector<std::string> warnings = ranks.results();
    INFO(warnings[0]);
    CHECK(warnings[0].starts_with("1 of " + std::to_string(count) + " ranks do not see " +
                                  (folder / "run").string()));
    CHECK(std::ranges::count(warnings[0], '\n') == 1);
    for (const int step : {2, 4})
      check_same_tensors(folder / "run" / step_folder_name(step),
                         want / "run" / step_folder_name(step));
    CHECK(!fs::exists(elsewhere / "run"));
  };
  check(static_cast<Averaged<Split<4, 3>>*>(nullptr), 4);
  check(static_cast<Orthogonal<Whole<3>>*>(nullptr), 3);
}

}  // namespace
}  // namespace sinter::detail::testing

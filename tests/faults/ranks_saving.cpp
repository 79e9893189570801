// SPDX-License-Identifier: Apache-2.0
// Processes that write a checkpoint together: one dies, or has no room, at every system call that changes
// files. A checkpoint is whole or not there, and all ranks come to the same end.
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <new>

#include "faults/files_calls.hpp"
#include "support/rank_processes.hpp"
#include "support/saved_runs.hpp"

namespace {
/// What is allocated at once has no more bytes.
std::atomic<std::size_t> max_at_once = SIZE_MAX;

void* allocate(std::size_t bytes) {
  if (bytes <= max_at_once)
    if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
}  // namespace

void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace sinter::detail::testing {
namespace {

using Mode = RunFolder::Mode;
using Say = RankProcesses::Say;

template <class Parallel>
using Trained = Network<AdamW<{.lr = 1e-2}>, Parallel>;
using Sharded = Trained<Zero<{.bucket_bytes = 1000, .ranks = 2}>>;
using Whole = Trained<Ddp<{.bucket_bytes = 1000, .ranks = 2}>>;

constexpr std::int64_t steps = 6, struck_step = 4;

/// The checkpoints of an undisturbed run.
template <class R>
const fs::path& reference() {
  static const TemporaryFolder folder;
  static const fs::path path = folder / "run";
  if (!fs::exists(path)) {
    Trainer<R> trainer({.seed = 3, .threads = 2});
    run_network(trainer, path, Mode::fresh, {.steps = steps, .save_every = 2});
  }
  return path;
}

/// Runs with a checkpoint after every second step. A fault strikes a call of one rank, from the save after
/// struck_step on.
template <class R>
std::string run_struck(const fs::path& path, const World& world, bool is_struck, Fault fault,
                       int at, int error, bool in_background) {
  Trainer<R> trainer({.seed = 3, .threads = 1, .world = world});
  const std::string warnings = run_network(trainer, path, Mode::fresh,
                                           {.steps = steps,
                                            .save_every = 2,
                                            .save_in_background = in_background,
                                            .on_step = [&](const StepRecord& record) {
                                              if (is_struck && record.step == struck_step)
                                                arm(fault, at, error);
                                            }});
  return "end, calls " + std::to_string(is_struck && disarm() >= at) + "\n" + warnings;
}

/// Checkpoints are whole, and those of the undisturbed run; what hides is gone when the next run begins. In
/// the background the one before may still have been at work.
template <class R>
void check_folder(const fs::path& path, bool in_background = false) {
  for (const StepFolder& step : step_folders(path))
    check_same_tensors(step.folder, reference<R>() / step_folder_name(step.step));
  RunFolder next(path, Mode::either);
  CHECK(hidden_entries(path) == 0);
  CHECK((next.resume_point() || in_background));
}

/// Lets the process of a rank die at one call after the other, or at some. Returns how many deaths there were.
template <class R>
int check_deaths(int victim, bool in_background, int every = 1) {
  (void)reference<R>();
  int deaths = 0;
  for (int at = 1;; at += every) {
    CAPTURE(victim);
    CAPTURE(at);
    const TemporaryFolder folder;
    const fs::path path = folder / "run";
    RankProcesses ranks(2, [&](const World& world, const Say&) {
      return run_struck<R>(path, world, world.rank == victim, Fault::death, at, 0, in_background);
    });
    const std::string said = ranks.next_said(victim);  // nothing, if it has died
    const std::string other = ranks.result(1 - victim);
    INFO("the other says: ", other);
    // One that has died in its last steps may have done all that the other needed.
    const bool ended = other.starts_with("end");
    const bool died = other.find(ranks.name(victim) + " has died") != std::string::npos;
    CHECK((said.empty() ? ended || died : ended));
    check_folder<R>(path, in_background);
    if (!said.empty()) return deaths;
    ++deaths;
  }
}

TEST_CASE("a rank dies at any call of a save") {
  int deaths = check_deaths<Sharded>(0, false);
  CHECK(deaths >= 20);
  MESSAGE(deaths << " deaths of rank 0");
  deaths = check_deaths<Sharded>(1, true, 3);
  CHECK(deaths >= 4);
  MESSAGE(deaths << " deaths of rank 1");
  CHECK(check_deaths<Whole>(1, false, 2) >= 3);
}

/// Lets one call after the other of a rank fail. Returns how often all went on.
template <class R>
int check_failures(int victim, int error) {
  (void)reference<R>();
  int goes_on = 0;
  for (int at = 1;; ++at) {
    CAPTURE(victim);
    CAPTURE(at);
    const TemporaryFolder folder;
    const fs::path path = folder / "run";
    RankProcesses ranks(2, [&](const World& world, const Say&) {
      return run_struck<R>(path, world, world.rank == victim, Fault::error, at, error, false);
    });
    const std::vector<std::string> said = ranks.results();
    INFO("rank 0 says: ", said[0]);
    INFO("rank 1 says: ", said[1]);
    CHECK(said[0].starts_with("end") == said[1].starts_with("end"));
    const std::string failed =
        "a checkpoint could not be saved: rank " + std::to_string(victim) + ": Cannot ";
    if (said[0].find(failed) != std::string::npos) ++goes_on;
    check_folder<R>(path);
    if (said[std::size_t(victim)].starts_with("end, calls 0")) return goes_on;
  }
}

TEST_CASE("any call of a save fails on one rank: all go on without the checkpoint, or all end") {
  CHECK(check_failures<Sharded>(1, ENOSPC) >= 4);
  CHECK(check_failures<Sharded>(0, EIO) >= 8);
  CHECK(check_failures<Whole>(1, EIO) >= 4);
}

TEST_CASE("if one rank has no room, no rank saves, all go on, and the next checkpoint is whole") {
  const TemporaryFolder folder;
  const fs::path path = folder / "run";
  (void)reference<Sharded>();
  RankProcesses ranks(2, [&](const World& world, const Say&) {
    std::signal(SIGXFSZ, SIG_IGN);
    Trainer<Sharded> trainer({.seed = 3, .threads = 1, .world = world});
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    const auto limit = [&](const StepRecord& record) {
      const rlimit small{1000, before.rlim_max};
      if (world.rank == 1 && record.step >= struck_step)
        ::setrlimit(RLIMIT_FSIZE, record.step == struck_step ? &small : &before);
    };
    return run_network(
        trainer, path, Mode::fresh,
        {.steps = steps, .save_every = 2, .save_in_background = false, .on_step = limit});
  });
  for (const std::string& said : ranks.results()) {
    CAPTURE(said);
    CHECK(contains(said, "could not be saved: rank 1: Cannot write " + path.string()));
    CHECK(contains(said, "File too large. The file size limit is too small"));
    CHECK(contains(said, "Training goes on, as " + (path / step_folder_name(2)).string()));
  }
  CHECK(!fs::exists(path / step_folder_name(struck_step)));
  CHECK(hidden_entries(path) == 0);
  check_same_tensors(path / "last", reference<Sharded>() / step_folder_name(steps));
}

TEST_CASE("the first checkpoint must be saved: where one rank cannot, all end with its error") {
  const TemporaryFolder folder;
  const fs::path path = folder / "run";
  RankProcesses ranks(2, [&](const World& world, const Say&) {
    Trainer<Whole> trainer({.seed = 3, .threads = 1, .world = world});
    if (world.rank == 1) arm(Fault::error, 1, EDQUOT);
    return run_network(trainer, path, Mode::fresh, {.steps = steps, .save_every = 2});
  });
  for (const std::string& said : ranks.results())
    CHECK_MESSAGE(contains(said, "rank 1: Cannot write " + path.string()), said);
  CHECK(step_folders(path).empty());
  CHECK(hidden_entries(path) == 0);
}

// Matrices of 4 MiB each, beside smaller ones.
struct Large : Recipe<Mlp<{.in = 3, .hidden = 1024, .out = 2, .layers = 4}>, UpTo<1>,
                      Batch<{.global = 24, .micro = 12}>, AdamW<{.lr = 1e-3}>,
                      Zero<{.stage = 3, .ranks = 2}>> {};

TEST_CASE(
    "no rank has memory for more than its shards when it saves, nor for a tensor when it loads") {
  const TemporaryFolder folder;
  RankProcesses ranks(2, [&](const World& world, const Say&) {
    Trainer<Large> trainer({.seed = 3, .threads = 1, .world = world});
    const auto bytes = std::size_t(trainer.plan().parameters) * 4 * 3;  // with AdamW's state
    max_at_once = bytes / 2 + 4096;
    std::string text = run_network(trainer, folder / "run", Mode::fresh, {.steps = 1});
    max_at_once = std::size_t(3) << 20;
    trainer.load(folder / "run" / "last");
    max_at_once = SIZE_MAX;
    trainer.save(folder / std::to_string(world.rank));
    return text;
  });
  for (const std::string& said : ranks.results()) CHECK(said == "");
  for (const char* own : {"0", "1"}) check_same_tensors(folder / own, folder / "run" / "last");
}

}  // namespace
}  // namespace sinter::detail::testing

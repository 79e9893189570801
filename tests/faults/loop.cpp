// SPDX-License-Identifier: Apache-2.0
// A run that saves in a thread while it trains: calls fail, and the process is killed at random
// moments. SINTER_TEST_KILLS=1000 makes it a soak.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <random>

#include "faults/files_calls.hpp"
#include "sinter/data/arrays.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/recovery/roll_back.hpp"
#include "sinter/trainer/loop.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/killed.hpp"
#include "support/recipes.hpp"
#include "support/sanitized.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::detail::testing;

namespace {

using Net = Made<Mlp<{.in = 2, .hidden = 8192, .out = 1}>, AdamW<{.lr = 1e-2}>,
                 Batch<{.global = 8, .micro = 8}>>;

struct Points {
  std::vector<float> inputs, targets;
  Points() {
    for (int i = 0; i < 40; ++i) {
      inputs.insert(inputs.end(), {float(i % 8) / 8, float(i / 8) / 5});
      targets.push_back(inputs[2 * i] - inputs[2 * i + 1]);
    }
  }
};
const Points points;  // ArrayData looks at them

using Rolling = Made<Mlp<{.in = 2, .hidden = 8192, .out = 1}>, AdamW<{.lr = 1e-2}>,
                     Batch<{.global = 8, .micro = 8}>, RollBack<{.most = 1'000'000, .factor = 1}>>;

/// Every seventh batch is bad if R goes back.
template <class R>
struct Source {
  ArrayData data{points.inputs, 2, points.targets, 1, {.sequences = 8}};

  void next(HostBatch& batch) {
    data.next(batch);
    if (std::is_same_v<R, Rolling> && data.state().items / 8 % 7 == 0) batch.values[0][0] = NAN;
  }
  SamplerState state() const { return data.state(); }
  void restore(const SamplerState& saved) { data.restore(saved); }
};

/// Begins or goes on, up to so many steps.
template <class R = Net>
void train(const fs::path& path, std::int64_t steps, std::int64_t save_every) {
  RunFolder run(path, RunFolder::Mode::either);
  Trainer<R> trainer({.seed = 1, .threads = 1});
  Loop loop(trainer, Source<R>(), {}, &run);
  loop.run({.steps = steps, .save_every = save_every});
}

/// All that the newest checkpoint says of weights and state.
std::string end_of(const fs::path& path) {
  const CheckpointReader last(path / "last");
  return get(last.file("model.safetensors")) + get(last.file("state.safetensors"));
}

}  // namespace

TEST_CASE("any call of a run fails: it ends with an error or goes on, and loses nothing") {
  TemporaryFolder folder;
  constexpr int steps = 10, every = 3;
  arm(testing::Fault::none, 0);
  train(folder / "whole", steps, every);
  const int all = disarm();
  const std::string end = end_of(folder / "whole");
  struct {
    testing::Fault fault;
    int error;
  } faults[]{{testing::Fault::error, ENOSPC},
             {testing::Fault::error, EIO},
             {testing::Fault::error, EINTR},
             {testing::Fault::half, 0}};
  int refused = 0;
  REQUIRE(all > 70);
  for (int at = 1; at <= all; at += is_sample ? 3 : 1) {
    CAPTURE(at);
    const fs::path path = folder / std::to_string(at);
    arm(faults[at % 4].fault, at, faults[at % 4].error);
    bool failed = false;
    try {
      train(path, steps, every);
    } catch (const FileError&) {
      failed = true;
    }
    disarm();
    if (at % 4 >= 2) CHECK(!failed);  // a signal, or half a write, is nothing to fail at
    refused += failed;
    if (fs::exists(path))  // else it could not even be made
      for (const StepFolder& step : step_folders(path)) CheckpointReader whole(step.folder);
    train(path, steps, every);
    CHECK(end_of(path) == end);
    fs::remove_all(path);
  }
  CHECK(refused > 0);
}

/// Kills a run of the recipe R again and again, and compares its end with that of one left alone.
template <class R>
void check_kills(std::int64_t save_every) {
  TemporaryFolder folder;
  const char* asked = std::getenv("SINTER_TEST_KILLS");
  const int kills = asked ? std::atoi(asked) : is_sample ? 8 : 20;
  const auto begin = std::chrono::steady_clock::now();
  train<R>(folder / "timed", 20, save_every);
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  std::mt19937 random(54321);
  // At most 3 s, or a busy machine that is slow here trains for minutes.
  std::uniform_int_distribution<useconds_t> moment(0, useconds_t(std::min(2 * time.count(), 3e6)));
  const fs::path path = folder / "run";
  std::int64_t reached = 0;
  int in_a_save = 0;
  // More where, on this disk, none has come in the middle of a save.
  for (int round = 0; round < kills || (in_a_save == 0 && round < 20 * kills); ++round) {
    CAPTURE(round);
    // It is alive when it is killed: no save failed, no resuming failed.
    kill_at_work([&] { train<R>(path, 1'000'000, save_every); }, moment(random));
    if (!fs::exists(path)) continue;
    in_a_save += hidden_entries(path) > 0;
    std::vector<StepFolder> saved = step_folders(path);
    for (const StepFolder& step : saved) CheckpointReader whole(step.folder);
    if (saved.empty()) continue;
    CHECK(saved.front().step >= reached);
    reached = saved.front().step;
  }
  MESSAGE(kills << " kills or more, " << in_a_save << " in the middle of a save; reached step "
                << reached);
  CHECK(reached > 0);
  CHECK(in_a_save > 0);
  const std::int64_t rarely =
      std::is_same_v<R, Rolling> ? save_every : 1000;  // it goes back to them
  train<R>(path, reached + 5, rarely);
  train<R>(folder / "whole", reached + 5, rarely);
  CHECK(end_of(path) == end_of(folder / "whole"));
}

TEST_CASE("a run that is killed while it trains and saves goes on to the same end") {
  check_kills<Net>(1);
}

TEST_CASE("a killed run that rolls back again and again goes on to the same end") {
  check_kills<Rolling>(3);
}

// SPDX-License-Identifier: Apache-2.0
// The data source of one rank throws, in training or in evaluation: that rank says why, all others end at once
// and name it, no checkpoint is half there, and the run goes on.
#include <atomic>
#include <chrono>

#include "sinter/parallel/zero.hpp"
#include "support/rank_processes.hpp"
#include "support/saved_runs.hpp"

namespace sinter::detail::testing::ranks_reading_tests {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Mode = RunFolder::Mode;
using Say = RankProcesses::Say;

template <class Parallel>
using Trained = Network<AdamW<{.lr = 1e-2}>, Parallel>;
template <int Ranks>
using Whole = Trained<Ddp<{.bucket_bytes = 1000, .ranks = Ranks}>>;
template <int Ranks>
using Sharded = Trained<Zero<{.bucket_bytes = 1000, .ranks = Ranks}>>;

/// What a user's source throws.
struct DataError : Error {
  using Error::Error;
};
constexpr const char* reason = "row 17 of shard 3 cannot be read";

/// A source of a user, of which one batch cannot be read: the one of this number, if there is such.
template <class Source>
struct Broken {
  Source source;
  int broken;
  std::shared_ptr<std::atomic<int>> filled = std::make_shared<std::atomic<int>>(0);

  bool next(HostBatch& batch) {
    BatchDraw drawn;
    if (!draw(drawn)) return batch.clear(), false;
    fill(drawn, batch);
    return true;
  }
  bool draw(BatchDraw& draw) { return source.draw(draw); }
  void fill(const BatchDraw& draw, HostBatch& batch) const {
    if (++*filled == broken) throw DataError(reason);
    source.fill(draw, batch);
  }
  SamplerState state() const { return source.state(); }
  void restore(const SamplerState& saved) { source.restore(saved); }
};

constexpr std::int64_t steps = 12;

/// Where it breaks: at which batch of those to train on, or of those to evaluate; 0 is none.
struct Break {
  int training = 0, evaluation = 0;
};

EvaluationArrays to_evaluate() {
  return EvaluationArrays(network_inputs, 3, network_targets, 2, 30);  // 3 batches
}

/// Trains from the beginning, or goes on, with an evaluation and a checkpoint after every second step.
template <class R>
void train(const fs::path& path, Mode mode, const World& world, int threads, Break at = {},
           int workers = 1) {
  Trainer<R> trainer({.seed = 3, .threads = threads, .world = world});
  const auto folder = folder_of(path, mode, world);
  const ArrayData data(network_inputs, 3, network_targets, 2,
                       {.sequences = trainer.global_batch()});
  Loop loop(trainer, ReadStage(Broken<ArrayData>{data, at.training}, {.workers = workers}),
            EvaluateStage(Broken<EvaluationArrays>{to_evaluate(), at.evaluation}), folder.get());
  loop.run({.steps = steps, .evaluate_every = 2, .save_every = 2});
}

/// Checks what ranks say when one of them cannot read, and that they say it at once.
template <class Work>
void check_end(int count, int victim, const Work& work) {
  RankProcesses ranks(count, [&](const World& world, const Say& say) -> std::string {
    work(world, world.rank == victim, say);
    return "done";
  });
  for (int r = 0; r < count; ++r) REQUIRE(ranks.next_said(r) == "here");
  const Clock::time_point begin = Clock::now();
  const std::string name = ranks.name(victim);
  for (int r = 0; r < count; ++r) {
    const std::string said = ranks.result(r);
    if (r == victim) {
      CHECK(said == reason);
      continue;
    }
    check_has(said, "waits for ranks that have stopped: " + name + ". Its own error says why.");
    check_has(said, " Rank " + std::to_string(r) + " was ");
  }
  CHECK(Clock::now() - begin < 5s);
}

/// Checkpoints that are there are whole, and those of an undisturbed run. All ranks go on to its end.
template <class R>
void check_goes_on(const fs::path& path, const fs::path& whole, int ranks, std::size_t saved) {
  for (const StepFolder& step : step_folders(path))
    check_same_tensors(step.folder, whole / step_folder_name(step.step));
  CHECK(step_folders(path).size() >= saved);
  (void)RunFolder(path, Mode::either);  // removes what hides
  CHECK(hidden_entries(path) == 0);
  RankProcesses again(ranks, [&](const World& world, const Say&) {
    train<R>(path, Mode::either, world, 1);
    return std::string("done");
  });
  for (const std::string& said : again.results()) CHECK(said == "done");
  check_same_tensors(path / "last", whole / "last");
}

/// A place to break, and how many checkpoints there must be then: the one before may be under way.
struct Case {
  Break at;
  std::size_t saved;
};
constexpr Case cases[]{{{.training = 1}, 0},
                       {{.training = 7}, 1},
                       {{.evaluation = 1}, 0},
                       {{.evaluation = 8}, 1},
                       {{.evaluation = 18}, 4}};

template <class R>
void check_training(int count, std::initializer_list<int> victims) {
  const TemporaryFolder folder;
  const fs::path whole = folder / "whole";
  train<R>(whole, Mode::fresh, {}, count);
  for (const int victim : victims)
    for (const Case& broken : cases)
      for (const int workers : {0, 1}) {
        if (broken.at.evaluation && workers == 0) continue;
        CAPTURE(count);
        CAPTURE(victim);
        CAPTURE(broken.at.training);
        CAPTURE(broken.at.evaluation);
        CAPTURE(workers);
        const TemporaryFolder own;
        const fs::path path = own / "run";
        check_end(count, victim, [&](const World& world, bool fails, const Say& say) {
          say("here");
          train<R>(path, Mode::either, world, 1, fails ? broken.at : Break{}, workers);
        });
        check_goes_on<R>(path, whole, count, broken.saved);
      }
}

TEST_CASE("a rank that cannot read ends all, who name it, and the run goes on") {
  check_training<Whole<2>>(2, {0, 1});
  check_training<Whole<4>>(4, {1});
}
TEST_CASE("a rank with shards that cannot read ends all, who name it, and the run goes on") {
  check_training<Sharded<2>>(2, {0, 1});
  check_training<Sharded<4>>(4, {2});
}
TEST_CASE("a rank that cannot read in an evaluation ends all, who name it") {
  for (const int count : {2, 4})
    for (const int broken : {1, 3})
      check_end(count, 1, [&](const World& world, bool fails, const Say& say) {
        const auto view = Trainer<Whole<2>>::options();
        for (Option& option : view->options)
          if (option.dotted() == "parallel.ranks") *std::get<int*>(option.value) = count;
        Trainer<Whole<2>> trainer(view, {.seed = 3, .threads = 1, .world = world});
        AnySource source(Broken<EvaluationArrays>{to_evaluate(), fails ? broken : 0});
        say("here");
        (void)evaluate_all(trainer, source);
      });
}

TEST_CASE("ranks do not wait for a rank that has failed in a program that keeps its trainer") {
  RankProcesses ranks(2, [](const World& world, const Say& say) {
    Trainer<Whole<2>> trainer({.seed = 3, .threads = 1, .world = world});
    const ArrayData data(network_inputs, 3, network_targets, 2, {.sequences = 24});
    const int broken = world.rank == 1 ? 3 : 0;
    Loop loop(trainer, ReadStage(Broken<ArrayData>{data, broken}), {}, nullptr);
    try {
      loop.run({.steps = steps});
    } catch (const DataError& error) {
      say(error.what());
      ::pause();
    }
    return std::string("done");
  });
  REQUIRE(ranks.next_said(1) == reason);
  const Clock::time_point begin = Clock::now();
  check_has(ranks.result(0), "waits for ranks that have stopped: " + ranks.name(1));
  CHECK(Clock::now() - begin < 5s);
}

}  // namespace sinter::detail::testing::ranks_reading_tests

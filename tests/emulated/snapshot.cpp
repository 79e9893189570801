// SPDX-License-Identifier: Apache-2.0
// A snapshot holds what a checkpoint would have held when it was taken, whatever comes to the trainer
// before anybody reads it. (The emulated device copies as late as it may.)
#include <doctest/doctest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "emulated/training/steps.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/hardware/memory.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/sinter.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {
namespace {

const TrainerSettings settings{.seed = 3, .threads = 1};

std::string bytes_now(const TrainerCore& trainer) {
  std::string all;
  trainer.show_content([&](const CheckpointContent& content) { all = bytes_of(content); });
  return all;
}

/// Checks that a snapshot which nobody has read yet stays as it is when this changes the trainer.
void check_stays(TrainerCore& trainer, const std::function<void()>& change) {
  Snapshot snapshot;
  const std::string before = bytes_now(trainer);
  trainer.copy_content(snapshot);
  change();
  const std::string after = bytes_now(trainer), copied = bytes_of(snapshot.content());
  CHECK(after != before);
  CHECK(copied == before);
}

using Usual = Tiny<Cuda<>, Bf16, Average<>>;

/// A policy that changes its state before the micro-batches, whether or not the step is applied.
struct early {
  static constexpr std::string_view name = "early";
};
template <class Policy>
inline constexpr Kind early_kind{
    .name = "early", .touch = touches::average<Policy>, .run = executes::average<Policy, float>};
template <AverageOptions O = {}>
struct Early {
  using slot = early;
  using Options = AverageOptions;
  static constexpr Options options = O;
  static constexpr std::array regions{Region{"early"}};

  static constexpr Program rewrite(const Model& model, Program program) {
    program.insert(program.begin(), {&early_kind<Early>, 0, short(model.order.size())});
    return program;
  }
};

}  // namespace

TEST_CASE("a snapshot stays as it is while steps go on") {
  Trainer<Usual> trainer(settings);
  for (int s = 0; s < 6; ++s)  // each shape twice: a graph that is made, and one that is there
    check_stays(trainer, [&] { take_step(trainer, s); });
  LaunchesDirectly observer;
  trainer.observe({&observer});
  check_stays(trainer, [&] { take_step(trainer, 6); });
}

TEST_CASE("a snapshot stays as it is if a policy changes its state before the norm") {
  Trainer<Tiny<Cuda<>, Fp32, Early<>>> trainer(settings);
  take_step(trainer, 0);
  for (int s = 1; s < 5; ++s) check_stays(trainer, [&] { take_step(trainer, s); });
}

TEST_CASE("an evaluation does not wait for a snapshot") {
  Trainer<Usual> trainer(settings);
  take_step(trainer, 0);
  Snapshot snapshot;
  trainer.copy_content(snapshot);
  trainer.evaluate(batch_of(1));
  trainer.machine().parameters().clear_masters();  // does not wait either, and so is what is copied
  const std::string copied = bytes_of(snapshot.content());
  CHECK(copied == bytes_now(trainer));
}

TEST_CASE("changes of a trainer other than steps wait for a snapshot") {
  Trainer<Usual> trainer(settings);
  const TemporaryFolder temporary;
  trainer.save(temporary / "fresh");
  take_step(trainer, 0);
  SUBCASE("set_parameter") {
    const Parameter& p = trainer.parameters()[0];
    const std::vector<double> ones(std::size_t(p.size), 1);
    check_stays(trainer, [&] { trainer.set_parameter(p.name, ones); });
  }
  SUBCASE("load") {
    check_stays(trainer, [&] { trainer.load(temporary / "fresh"); });
  }
  SUBCASE("roll_back") {
    check_stays(trainer, [&] { trainer.roll_back(CheckpointReader(temporary / "fresh")); });
  }
  SUBCASE("load_weights") {
    check_stays(trainer, [&] { trainer.load_weights(temporary / "fresh"); });
  }
}

TEST_CASE("snapshots follow each other, and outlive the trainer") {
  Snapshot first, second;
  std::string before, between, after;
  {
    Trainer<Usual> trainer(settings);
    before = bytes_now(trainer);
    trainer.copy_content(first);
    take_step(trainer, 0);
    between = bytes_now(trainer);
    trainer.copy_content(second);
    CHECK(bytes_of(first.content()) == before);
    take_step(trainer, 1);
    after = bytes_now(trainer);
    trainer.copy_content(first);
  }
  CHECK(bytes_of(second.content()) == between);
  CHECK(bytes_of(first.content()) == after);
}

TEST_CASE("a run saves the same in the background as it does while it waits") {
  using R = Made<Mlp<{.in = 2, .hidden = 8, .out = 1}>, AdamW<{.lr = 1e-2}>,
                 Batch<{.global = 4, .micro = 4}>, Cuda<>>;
  constexpr int steps = 8;
  const std::vector<float> inputs{0, 1, 1, 0, 1, 1, 0, 0}, targets{1, 1, 2, 0};
  auto files = [&](bool in_background) {
    const TemporaryFolder temporary;
    RunFolder folder(temporary / "run", RunFolder::Mode::fresh, 100);
    Trainer<R> trainer(settings);
    Loop loop(trainer, ArrayData(inputs, 2, targets, 1, {.sequences = 4}), {}, &folder);
    std::vector<std::string> all;
    loop.run({.steps = steps,
              .save_every = 1,
              .save_in_background = in_background,
              .on_warning = [&](const std::string& text) { all.push_back(text); }});
    for (int step = 1; step <= steps; ++step)
      for (const char* file : {"model.safetensors", "state.safetensors"})
        all.push_back(get(folder.path() / step_folder_name(step) / file));
    return all;
  };
  const auto background = files(true);
  CHECK(background.size() == 2 * steps);
  CHECK(background == files(false));
}

}  // namespace sinter::detail::testing

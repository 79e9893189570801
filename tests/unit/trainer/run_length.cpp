// SPDX-License-Identifier: Apache-2.0
// Schedules whose horizon is the run's length, and runs that end elsewhere than their schedule.
#include "trainer/run_length.hpp"

#include "sinter/data/arrays.hpp"
#include "sinter/files/checkpoint.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/schedule/cosine_decay.hpp"
#include "sinter/schedule/cosine_restarts.hpp"
#include "sinter/schedule/linear_decay.hpp"
#include "sinter/schedule/polynomial_decay.hpp"
#include "sinter/schedule/warmup_stable_decay.hpp"
#include "sinter/trainer/loop.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing::run_length_tests {

template <class... Policies>
using Net = Made<Mlp<{.in = 1, .hidden = 4, .out = 1}>, Batch<{.global = 4, .micro = 4}>,
                 AdamW<{.lr = 1e-2}>, Policies...>;

struct LaterOptions {
  std::int64_t wait = 0, last = 0;
  SINTER_FIELDS((wait).at_least(0), (last).at_least(0).adjustable())
};
/// A schedule of a user around one of Sinter's, with a horizon of another name.
template <LaterOptions O>
struct Later {
  using slot = slot::schedule;
  using Options = LaterOptions;
  static constexpr Options options = O;
  static constexpr std::int64_t& horizon(Options& o) { return o.last; }
  static double factor(const Options& o, std::int64_t step) {
    if (step <= o.wait) return 0.5;
    return LinearDecay<>::factor({.warmup = 0, .steps = o.last - o.wait}, step - o.wait);
  }
};

/// The factors of the first steps of a schedule in a run of `steps`.
template <class Schedule>
Numbers factors(std::int64_t steps) {
  const auto view = Trainer<Net<Schedule>>::options();
  view->run_steps = steps;
  Numbers all;
  for (std::int64_t step = 1; step <= 25; ++step) all.push_back(view->schedule_factor(step));
  return all;
}

TEST_CASE("a schedule without steps is the one whose steps are the run's length") {
  CHECK(factors<LinearDecay<{.warmup = 3}>>(20) ==
        factors<LinearDecay<{.warmup = 3, .steps = 20}>>(0));
  CHECK(factors<CosineDecay<{.floor = .1}>>(20) ==
        factors<CosineDecay<{.steps = 20, .floor = .1}>>(7));
  CHECK(factors<PolynomialDecay<{.power = 2}>>(20) ==
        factors<PolynomialDecay<{.steps = 20, .power = 2}>>(0));
  CHECK(factors<WarmupStableDecay<{.warmup = 3, .decay = 5}>>(20) ==
        factors<WarmupStableDecay<{.warmup = 3, .steps = 20, .decay = 5}>>(0));
  CHECK(factors<Later<{.wait = 4}>>(20) == factors<Later<{.wait = 4, .last = 20}>>(0));
  CHECK(factors<CosineRestarts<{.cycle = 6}>>(20) == factors<CosineRestarts<{.cycle = 6}>>(0));
}

TEST_CASE("a run that is told nothing is as long as its schedule, or 1,000 steps") {
  const auto usual = []<class Schedule>(Schedule, std::int64_t before) {
    return usual_run_length(*Trainer<Net<Schedule>>::options(), before);
  };
  CHECK(usual(LinearDecay<{.steps = 70}>{}, 0) == 70);
  CHECK(usual(LinearDecay<{.steps = 70}>{}, 50) == 50);
  CHECK(usual(LinearDecay<>{}, 0) == 1000);
  CHECK(usual(Later<{.last = 30}>{}, 0) == 30);
  CHECK(usual(Constant{}, 0) == std::nullopt);
}

TEST_CASE("a program says how long its run is, or is told to") {
  const HostBatch batch = regression_batch({1, 1, 1, 1}, 1, 1, 3);
  Trainer<Net<LinearDecay<>>> lost({.threads = 1}), told({.threads = 1, .steps = 4});
  CHECK(contains(message_of<ArgumentError>([&] { (void)lost.step(batch); }),
                 "TrainerSettings::steps"));
  lost.set_run_steps(4);
  for (double share : {1., .75, .5, .25}) {
    CHECK(applied(told, batch).learning_rate == doctest::Approx(1e-2 * share));
    CHECK(applied(lost, batch).learning_rate == doctest::Approx(1e-2 * share));
  }
  Trainer<Net<LinearDecay<{.steps = 8}>>> stated({.threads = 1, .steps = 4});
  CHECK(applied(stated, batch).learning_rate == doctest::Approx(1e-2));
  CHECK(applied(stated, batch).learning_rate == doctest::Approx(1e-2 * 7 / 8));
}

TEST_CASE("a checkpoint keeps the length; one of an older version its horizon") {
  const HostBatch batch = regression_batch({1, 1, 1, 1}, 1, 1, 3);
  TemporaryFolder folder;
  Trainer<Net<LinearDecay<>>> trainer({.threads = 1, .steps = 10}), again({.threads = 1}),
      longer({.threads = 1, .steps = 20});
  applied(trainer, batch);
  trainer.save(folder / "saved");
  again.load(folder / "saved");
  longer.load(folder / "saved");
  CHECK(applied(again, batch).learning_rate == doctest::Approx(1e-2 * .9));
  CHECK(applied(longer, batch).learning_rate == doctest::Approx(1e-2 * .95));

  // Before, the default was a number, 1000 unless a flag said otherwise, and no length was saved.
  Trainer<Net<LinearDecay<{.steps = 40}>>> before({.threads = 1});
  applied(before, batch);
  before.save(folder / "old");
  again.load(folder / "old");
  again.set_run_steps(20);  // as a Loop does
  CHECK(applied(again, batch).learning_rate == applied(before, batch).learning_rate);
}

TEST_CASE("a loop gives its length to the schedule, and refuses steps that cannot learn") {
  const std::vector<float> x{1, 2, 3, 4}, y{2, 4, 6, 8};
  Trainer<Net<CosineDecay<>>> trainer({.threads = 1});
  Loop loop(trainer, ArrayData(x, 1, y, 1, {.sequences = 4}));
  loop.run({.steps = 4});
  CHECK(loop.state().last.learning_rate ==
        doctest::Approx(1e-2 * CosineDecay<>::factor({.steps = 4}, 4)));
  loop.run({.steps = 8});
  CHECK(loop.state().last.learning_rate ==
        doctest::Approx(1e-2 * CosineDecay<>::factor({.steps = 8}, 8)));
  Trainer<Net<CosineDecay<{.steps = 4}>>> stated({.threads = 1});
  Loop beyond(stated, ArrayData(x, 1, y, 1, {.sequences = 4}));
  CHECK(
      message_of<ArgumentError>([&] { beyond.run({.steps = 9}); }) ==
      "the learning rate is 0 from step 5 to the last step, 9, so that nothing would be learnt in "
      "them: the schedule's horizon is step 4. End the run there (--steps 4), or move the horizon "
      "(--schedule.steps 9, or the recipe's .steps; left out, it is the run's last step).");
  CHECK(stated.steps() == 0);
  beyond.run({.steps = 4});
  CHECK(stated.steps() == 4);
  Trainer<Net<CosineDecay<{.steps = 4, .floor = .1}>>> floored({.threads = 1});
  Loop on(floored, ArrayData(x, 1, y, 1, {.sequences = 4}));
  on.run({.steps = 9});
  CHECK(floored.steps() == 9);
}

TEST_CASE("steps at rate 0 are refused by each schedule that ends there, of a later run, too") {
  const std::vector<float> x{1, 2, 3, 4}, y{2, 4, 6, 8};
  const auto refuses = [&]<class Schedule>(Schedule) {
    Trainer<Net<Schedule>> trainer({.threads = 1});
    Loop loop(trainer, ArrayData(x, 1, y, 1, {.sequences = 4}));
    for (const std::int64_t before : {0, 4}) {
      if (before > 0) loop.run({.steps = before});
      CHECK(contains(message_of<ArgumentError>([&] { loop.run({.steps = 9}); }),
                     "the learning rate is 0 from step 5 to the last step, 9"));
      CHECK(trainer.steps() == before);
    }
  };
  refuses(LinearDecay<{.warmup = 0, .steps = 4}>{});
  refuses(PolynomialDecay<{.warmup = 0, .steps = 4}>{});
  refuses(WarmupStableDecay<{.warmup = 1, .steps = 4, .decay = 2}>{});
}

TEST_CASE("a source without its type that never ends is refused when an evaluation is made") {
  const std::vector<float> x{1, 2, 3, 4}, y{2, 4, 6, 8};
  const auto refusal = [&](ArrayData data) {
    return refusal_of<ArgumentError>([&] { EvaluateStage stage{AnySource(std::move(data))}; });
  };
  ArrayData rows(x, 1, y, 1, {.sequences = 4});
  CHECK(contains(refusal(rows), "take EvaluationArrays"));
  rows.end_at({.epochs = 1});
  CHECK(refusal(rows) == "");
}

TEST_CASE("a run that ends elsewhere than its schedule says so") {
  const auto note = []<class Schedule>(Schedule, std::int64_t steps) {
    const auto view = Trainer<Net<Schedule>>::options();
    view->run_steps = steps;
    return length_note(*view);
  };
  CHECK(note(LinearDecay<{.steps = 70}>{}, 70) == "");
  CHECK(note(LinearDecay<>{}, 70) == "");
  CHECK(note(Constant{}, 70) == "");
  CHECK(note(LinearDecay<{.steps = 80}>{}, 61) ==
        "the schedule's horizon is step 80, and the run ends at step 61: the rate there is still "
        "0.25 times the optimizer's");
  CHECK(contains(note(LinearDecay<{.warmup = 40, .steps = 80}>{}, 10),
                 "that is within its warm-up of 40 steps, at 0.25 times"));
  CHECK(contains(note(CosineDecay<{.steps = 80, .floor = .1}>{}, 90),
                 "steps 81 to 90 have 0.1 times the optimizer's rate"));
  CHECK(contains(note(LinearDecay<{.warmup = 40}>{}, 10),
                 "a run of 10 steps is short for its schedule: the warm-up is beyond the horizon"));
  CHECK(contains(note(WarmupStableDecay<>{}, 10), "warmup and decay are beyond steps"));
}

}  // namespace sinter::detail::testing::run_length_tests

// SPDX-License-Identifier: Apache-2.0
#include "sinter/recovery/spike_guard.hpp"

#include "sinter/parallel/ddp.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/recovery/roll_back.hpp"
#include "sinter/recovery/skip_steps.hpp"
#include "unit/recovery/support.hpp"

namespace sinter::detail::testing::spike_guard_tests {

constexpr SpikeGuardOptions few{.window = 16, .warmup = 8};
using Guard = SpikeGuard<few>;

/// The bound as its definition gives it: mean and deviation of all numbers so far, where a newer one
/// takes its weight from all that are older.
class Reference {
  std::vector<double> numbers, weights;

 public:
  double sigma = few.sigma;
  int window = few.window, warmup = few.warmup;

  double value() const {
    if (int(numbers.size()) < warmup) return INFINITY;
    double mean = 0, squares = 0;
    for (std::size_t k = 0; k < numbers.size(); ++k) mean += weights[k] * numbers[k];
    for (std::size_t k = 0; k < numbers.size(); ++k)
      squares += weights[k] * (numbers[k] - mean) * (numbers[k] - mean);
    return mean + sigma * std::sqrt(squares);
  }
  void add(double number) {
    number = std::min(number, value());
    const double weight = std::max(1.0 / double(numbers.size() + 1), 1.0 / window);
    for (double& w : weights) w *= 1 - weight;
    numbers.push_back(number);
    weights.push_back(weight);
  }
};

StepFigures figures(double loss, double norm = 1) { return {loss, norm, true}; }

/// Whether a step with these figures is above the guard's bounds.
bool refuses(const SpikeGuardOptions& options, const SpikeGuardState& state,
             const StepFigures& step) {
  kernel::Stream stream(1);
  kernel::Decision decision{.loss = step.loss, .norm = step.gradient_norm};
  kernel::refuse_above(stream, Guard::bounds(options, state), 1, &decision);
  return !decision.applied;
}

TEST_CASE("a step is refused from so many deviations above the mean on") {
  Reference losses, norms;
  SpikeGuardState state;
  std::mt19937_64 engine(3);
  std::normal_distribution<double> noise(0, 0.1);
  for (int step = 0; step < 200; ++step) {
    CAPTURE(step);
    for (bool of_norm : {false, true}) {
      const double bound = of_norm ? norms.value() : losses.value();
      if (std::isinf(bound)) {
        CHECK(!refuses(few, state, figures(1e300, 1e300)));
        continue;
      }
      auto refused = [&](double number) {
        return refuses(few, state, of_norm ? figures(0, number) : figures(number, 0));
      };
      CHECK(refused(bound * (1 + 1e-9)));
      CHECK(!refused(bound * (1 - 1e-9)));
      CHECK(!refused(-100));
    }
    const double loss = 5 - 0.01 * step + noise(engine) + (step % 50 == 49 ? 40 : 0),
                 norm = 2 + noise(engine) + (step % 60 == 59 ? 40 : 0);
    CHECK(!Guard::after_step(few, state, figures(loss, norm)));
    losses.add(loss);
    norms.add(norm);
  }
}

TEST_CASE("the gradient's norm is not looked at where that is not asked for") {
  SpikeGuardOptions options = few;
  SpikeGuardState state;
  for (int step = 0; step < 20; ++step)
    Guard::after_step(options, state, figures(1 + 0.1 * (step % 2), 1 + 0.1 * (step % 2)));
  CHECK(refuses(options, state, figures(1, 9)));
  options.norms = false;
  CHECK(!refuses(options, state, figures(1, 9)));
  CHECK(refuses(options, state, figures(9, 1)));
}

TEST_CASE("a lasting change is accepted in the end, and numbers that are not finite do not count") {
  SpikeGuardState state;
  for (int step = 0; step < 100; ++step)
    Guard::after_step(few, state, figures(1 + 0.1 * (step % 2), 1));
  CHECK(!Guard::after_step(few, state, {NAN, 1, false}));
  CHECK(!Guard::after_step(few, state, {1, INFINITY, false}));
  CHECK(state.steps == 100);
  int refused = 0;
  while (refuses(few, state, figures(3)) && refused < 1000) {
    ++refused;
    StepFigures step = figures(3);
    step.applied = false;
    Guard::after_step(few, state, step);
  }
  CHECK(refused > 0);
  CHECK(refused < few.window);
}

TEST_CASE("a spike changes nothing on any rank, and the run goes on as if it had not been") {
  using Guarded = Net<Ddp<{.ranks = 2}>, Average<>, Guard, SkipSteps<>>;
  Trainer<Guarded> guarded({.seed = 1, .threads = 2}), again({.seed = 1, .threads = 2});
  Trainer<Net<Ddp<{.ranks = 2}>, Average<>>> without({.seed = 1, .threads = 2});
  TemporaryFolder folder;
  for (int s = 0; s < 40; ++s) {
    CAPTURE(s);
    if (s > 8 && s % 7 == 0) {
      const Outcome outcome = guarded.step(rows(100, 1e4f));
      REQUIRE(std::holds_alternative<Skipped>(outcome));
      CHECK(std::isfinite(std::get<Skipped>(outcome).loss.sum));
      CHECK(std::get<Skipped>(outcome).reaction == Reaction::skip);
    }
    CHECK(applied(guarded, rows(s)).loss.sum == applied(without, rows(s)).loss.sum);
    guarded.save(folder / std::to_string(s));
    again.load(folder / std::to_string(s));
    CHECK(again.info() == guarded.info());
  }
  CHECK(parameters_of(guarded) == parameters_of(without));
  for (const char* name : {"input.weight", "output.bias"})
    CHECK(guarded.state("ema", name) == without.state("ema", name));
  for (int rank = 0; rank < 2; ++rank) CHECK(guarded.machine(rank).updates() == 40);
  const auto bytes = [&](int rank) {
    return std::span(guarded.machine(rank).flat<float>(Space::master).data, 58);
  };
  CHECK(std::ranges::equal(bytes(0), bytes(1)));
}

TEST_CASE("a spike in warm-up is not refused") {
  Trainer<Net<Guard>> trainer(settings);
  for (int s = 0; s < few.warmup - 1; ++s) applied(trainer, rows(s));
  applied(trainer, rows(100, 1e4f));
}

TEST_CASE("a loss scale does not deal with a spike: the recovery does") {
  Trainer<Net<ScaledByFour, Guard>> stops(settings);
  Trainer<Net<ScaledByFour, Guard, RollBack<>>> goes_back(settings);
  auto reaction = [](TrainerCore& trainer, float value) {
    for (int s = int(trainer.steps()); s < 20; ++s) applied(trainer, rows(s));
    const Outcome outcome = trainer.step(rows(100, value));
    REQUIRE(std::holds_alternative<Skipped>(outcome));
    return std::get<Skipped>(outcome).reaction;
  };
  CHECK(reaction(stops, NAN) == Reaction::skip);
  CHECK(reaction(stops, 1e4f) == Reaction::stop);
  CHECK(reaction(goes_back, NAN) == Reaction::skip);
  CHECK(reaction(goes_back, 1e4f) == Reaction::roll_back);
  CHECK(stops.loss_scale() == 2);
  CHECK(goes_back.loss_scale() == 2);
}

TEST_CASE("a loop stops at a spike, skips it or goes back, as the recovery says") {
  TemporaryFolder folder;
  const Batches batches{.bad = {12}, .value = 1e4f};
  auto train = [&](TrainerCore& trainer, const char* name) {
    RunFolder run(folder / name, RunFolder::Mode::fresh);
    Loop loop(trainer, batches, {}, &run);
    Warnings warnings;
    try {
      loop.run({.steps = 16, .save_every = 5, .on_warning = warnings.listener()});
    } catch (const NonFiniteError&) {
      FAIL("all is finite");
    } catch (const DivergedError& error) {
      return std::string(error.what());
    }
    REQUIRE(warnings.all.size() == 1);
    return warnings.all[0];
  };
  Trainer<Net<Guard>> stops(settings);
  std::string what = train(stops, "stops");
  CHECK(contains(what, "Step 13 goes wrong: the recipe's guard refuses its loss ("));
  CHECK(contains(what, "so training stops."));
  CHECK(contains(what, "step-00000010"));
  CHECK(stops.steps() == 12);
  Trainer<Net<Guard, SkipSteps<>>> skips(settings);
  what = train(skips, "skips");
  CHECK(contains(what, "step 13 is skipped: the recipe's guard refuses its loss ("));
  CHECK(contains(what, ". Weights, state and schedule are as they were."));
  Trainer<Net<Guard, RollBack<>>> goes_back(settings);
  what = train(goes_back, "goes_back");
  CHECK(contains(what, "step 13 goes wrong: the recipe's guard refuses its loss ("));
  CHECK(contains(what, "back to step 10"));
}

TEST_CASE("a recipe with a guard has one instruction more") {
  CHECK(Plan<Net<Guard>>::program.size() == Plan<Net<>>::program.size() + 1);
}

}  // namespace sinter::detail::testing::spike_guard_tests

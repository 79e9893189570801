// SPDX-License-Identifier: Apache-2.0
// Policies that carry numbers from step to step: loss scales and schedules that watch the loss.
#include "sinter/files/checkpoint.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/schedule/plateau.hpp"
#include "support/batches.hpp"
#include "support/loss_scale.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {

namespace {

template <class... Policies>
using Net = Made<Mlp<{.in = 3, .hidden = 8, .out = 2}>, Batch<{.global = 8, .micro = 2}>,
                 AdamW<{.lr = 1e-2}>, Policies...>;
HostBatch rows(std::uint64_t seed) {
  return regression_batch({1, 1, 1, 1, 1, 1, 1, 1}, 3, 2, seed);
}
const TrainerSettings settings{.seed = 1, .threads = 1};

/// Makes one gradient infinite in the second micro-batch of a step.
class Overflow : public Observer {
 public:
  bool armed = false;
  void before(const Machine&, int, int) override {}
  void after(const Machine& machine, int, int iteration) override {
    const OpenMemory open;
    if (armed && iteration == 1) *machine.flat<float>(Space::gradient) = INFINITY;
  }
};

TEST_CASE("a loss scale that is a power of two changes no bit") {
  Trainer<Net<>> plain(settings);
  Trainer<Net<Scaled<>>> scaled(settings);
  for (int s = 0; s < 20; ++s) {
    Applied a = applied(plain, rows(s)), b = applied(scaled, rows(s));
    CHECK(a.loss.sum == b.loss.sum);
    CHECK(a.gradient_norm == b.gradient_norm);
    CHECK(gradients_of(plain) == gradients_of(scaled));
  }
  CHECK(parameters_of(plain) == parameters_of(scaled));
  CHECK(scaled.loss_scale() == 1024);
}

TEST_CASE("a step that overflows halves the scale, and changes nothing else") {
  Trainer<Net<Scaled<>>> trainer(settings), without(settings);
  Overflow overflow;
  trainer.observe({&overflow});
  for (int s = 0; s < 6; ++s) {
    if (s == 3) {
      NamedNumbers before = parameters_of(trainer);
      overflow.armed = true;
      Outcome outcome = trainer.step(rows(100));
      overflow.armed = false;
      REQUIRE(std::holds_alternative<Skipped>(outcome));
      CHECK(std::get<Skipped>(outcome).reaction == Reaction::skip);
      CHECK(trainer.loss_scale() == 512);
      CHECK(trainer.steps() == 3);
      CHECK(parameters_of(trainer) == before);
    }
    CHECK(applied(trainer, rows(s)).loss.sum == applied(without, rows(s)).loss.sum);
  }
  CHECK(parameters_of(trainer) == parameters_of(without));
  CHECK(trainer.state("exp_avg_sq", "output.weight") ==
        without.state("exp_avg_sq", "output.weight"));
}

TEST_CASE("the scale grows after clean steps alone, and is in checkpoints") {
  using R = Net<Scaled<{.growth_interval = 3}>>;
  Trainer<R> trainer(settings), again({.seed = 5, .threads = 1});
  Overflow overflow;
  trainer.observe({&overflow});
  std::vector<double> scales;
  for (int s = 0; s < 9; ++s) {
    overflow.armed = s == 4;
    (void)trainer.step(rows(s));
    scales.push_back(trainer.loss_scale());
  }
  CHECK(scales == std::vector<double>{1024, 1024, 2048, 2048, 1024, 1024, 1024, 2048, 2048});
  TemporaryFolder folder;
  trainer.save(folder / "saved");
  again.load(folder / "saved");
  CHECK(again.loss_scale() == 2048);
  for (int s = 0; s < 3; ++s) {
    applied(trainer, rows(s));
    applied(again, rows(s));
    CHECK(again.loss_scale() == trainer.loss_scale());  // the count of clean steps, too
  }
  CHECK(trainer.loss_scale() == 4096);
  again.load_weights(folder / "saved");
  CHECK(again.loss_scale() == 1024);
}

TEST_CASE("training stops where the scale would fall below its minimum") {
  Trainer<Net<Scaled<{.initial_scale = 1, .minimum_scale = 0.25}>>> trainer(settings);
  Overflow overflow;
  trainer.observe({&overflow});
  overflow.armed = true;
  (void)trainer.step(rows(0));
  (void)trainer.step(rows(0));
  CHECK(trainer.loss_scale() == 0.25);
  CHECK_THROWS_AS((void)trainer.step(rows(0)), NonFiniteError);
}

TEST_CASE("a checkpoint whose state is of another type or step is refused as a file is") {
  Trainer<Net<Scaled<>>> trainer(settings);
  TemporaryFolder folder;
  trainer.save(folder / "saved");
  const CheckpointReader saved(folder / "saved");
  const std::string steering = "\\u001b[2J" + std::string(10'000, 'x');
  struct {
    std::string name, value, message;
  } cases[]{{"\"precision.scale\":", "\"large\"", "precision.scale is \"large\""},
            {"\"precision.scale\":", "\"" + steering + "\"", "precision.scale is \"\\u001b[2Jxx"},
            {"\"step\":", "5", "its manifest is of step 0, but its trainer of step 5"},
            {"\"step\":", "18446744073709551616", "'step' is 1.84"},
            {"\"step\":", "9223372036854775808", "'step' is 9223372036854775808, which is no"},
            {"\"seed\":", "\"-1\"", "'seed' is '-1', which is no number of 64 bits"}};
  for (const auto& [name, value, expected] : cases) {
    CAPTURE(expected);
    std::string info = saved.info();
    const std::size_t at = info.find(name) + name.size();
    REQUIRE(at > name.size());
    info.replace(at, info.find_first_of(",}", at) - at, value);
    CheckpointWriter writer(folder / "changed");
    for (const char* file : {"model.safetensors", "state.safetensors"})
      if (saved.has(file)) writer.add_file(file, get(saved.file(file)));
    writer.commit(saved.step(), info);
    const std::string message = message_of([&] { trainer.load(folder / "changed"); });
    CHECK(contains(message, "changed"));
    CHECK(contains(message, expected));
    CHECK(message.size() < 1000);
  }
}

/// As torch.optim.lr_scheduler.ReduceLROnPlateau(factor=0.5, patience=1, threshold=0.1, cooldown=1,
/// min_lr=0.2) gives it for a rate of 1.
TEST_CASE("the rate falls where the loss does not") {
  using R =
      Net<Plateau<{.factor = .5, .patience = 1, .threshold = .1, .cooldown = 1, .floor = .2}>>;
  const std::vector<double> losses{1, .95, .8, .79, .78, .77, .76, .5, .5, .5, .5, .5, .5, .5},
      rates{1, 1, 1, 1, .5, .5, .5, .5, .5, .25, .25, .25, .2, .2};
  Trainer<R> trainer(settings);
  TemporaryFolder folder;
  for (std::size_t k = 0; k < losses.size(); ++k) {
    CAPTURE(k);
    trainer.after_evaluation(losses[k]);
    CHECK(applied(trainer, rows(1)).learning_rate == doctest::Approx(1e-2 * rates[k]));
    trainer.save(folder / std::to_string(k));
    Trainer<R> resumed(settings);
    resumed.load(folder / std::to_string(k));
    trainer.after_evaluation(losses[k] + 1);  // counted here and there
    resumed.after_evaluation(losses[k] + 1);
    CHECK(applied(resumed, rows(2)).learning_rate == applied(trainer, rows(2)).learning_rate);
    trainer.load(folder / std::to_string(k));
  }
}

template <auto O, Text Metric>
using Classes = Made<Mlp<{.in = 3, .hidden = 8, .out = 2, .classifier = true}>, AdamW<{.lr = 1e-2}>,
                     Batch<{.global = 8, .micro = 2}>, Plateau<O, Metric>>;
constexpr PlateauOptions often{
    .factor = .5, .patience = 1, .threshold = .1, .cooldown = 1, .floor = .2};

double factor_of(const TrainerCore& trainer) {
  return trainer.recipe().schedule_factor(trainer.steps() + 1);
}

/// As torch.optim.lr_scheduler.ReduceLROnPlateau with these options and mode="max" gives it.
TEST_CASE("the rate falls where a metric does not rise, of which greater is better") {
  using R = Classes<often, "accuracy">;
  const std::vector<double> figures{.3, .31, .4, .42, .43, .43, .43, .6, .6, .6, .6, NAN, .6, .6},
      rates{1, 1, 1, 1, .5, .5, .5, .5, .5, .25, .25, .25, .2, .2};
  Trainer<R> trainer(settings);
  CHECK(trainer.recipe().watches == "accuracy");
  CHECK(trainer.recipe().acts_on_evaluations == "schedule");
  TemporaryFolder folder;
  for (std::size_t k = 0; k < figures.size(); ++k) {
    CAPTURE(k);
    const std::vector<MetricValue> found{{"accuracy", figures[k]}};
    trainer.after_evaluation(double(k), found);  // the loss rises, and does not matter
    CHECK(factor_of(trainer) == doctest::Approx(rates[k]));
    trainer.save(folder / std::to_string(k));
    Trainer<R> resumed(settings);
    resumed.load(folder / std::to_string(k));
    resumed.after_evaluation(1, found);
    trainer.after_evaluation(1, found);
    CHECK(factor_of(resumed) == factor_of(trainer));
    trainer.load(folder / std::to_string(k));
  }
  const std::string message = message_of<ArgumentError>([&] { trainer.after_evaluation(1); });
  CHECK(contains(message, "watches the metric 'accuracy'"));
}

TEST_CASE("a schedule that watches the loss by name is the one that watches it without") {
  Trainer<Classes<often, "loss">> named(settings);
  Trainer<Classes<often, "">> plain(settings);
  for (const double loss : {1., .95, .9, .89, .5, .5, .5, .5}) {
    named.after_evaluation(loss);
    plain.after_evaluation(loss);
    CHECK(factor_of(named) == factor_of(plain));
  }
  CHECK(factor_of(named) < 1);
}

TEST_CASE("a metric that the recipe has not is one error, before the first step") {
  Trainer<Classes<often, "f1_macro">> trainer(settings);
  CHECK(message_of<ArgumentError>([&] { trainer.after_evaluation(1); }) ==
        "the recipe's schedule names 'f1_macro', and the recipe Made has no such metric. It has: "
        "loss, accuracy. Name one of these, or add the metric to its policy Metrics.");
}

TEST_CASE("another metric than the checkpoint's begins its count anew, and keeps the rate") {
  TemporaryFolder folder;
  Trainer<Classes<often, "">> by_loss(settings);
  for (const double loss : {1., 1., 1.}) by_loss.after_evaluation(loss);
  REQUIRE(factor_of(by_loss) == .5);
  by_loss.save(folder / "saved");
  Trainer<Classes<often, "accuracy">> trainer(settings);
  trainer.load(folder / "saved");
  CHECK(factor_of(trainer) == .5);
  const std::vector<MetricValue> found{{"accuracy", .3}};
  trainer.after_evaluation(1, found);  // the first figure is better than none, not than a loss of 1
  trainer.after_evaluation(1, found);
  CHECK(factor_of(trainer) == .5);
  trainer.after_evaluation(1, found);
  CHECK(factor_of(trainer) == .25);
}

}  // namespace
}  // namespace sinter::detail::testing

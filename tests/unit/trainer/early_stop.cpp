// SPDX-License-Identifier: Apache-2.0
// Metrics in a loop: what its log and checkpoints say of them, which step is the best, when it ends early.
#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "sinter/data/arrays.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/metric/accuracy.hpp"
#include "sinter/metric/f1.hpp"
#include "sinter/metric/metrics.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/schedule/plateau.hpp"
#include "sinter/stopping/early_stop.hpp"
#include "sinter/trainer/loop.hpp"
#include "sinter/trainer/trainer.hpp"
#include "support/folder.hpp"
#include "support/json_rows.hpp"
#include "support/message_of.hpp"
#include "support/recipes.hpp"

namespace sinter::detail::testing::early_stop_tests {

constexpr int width = 2, classes = 3, rows = 60;
/// A metric of one's own, of which less is better: the number of rows.
struct Surest {
  static constexpr std::string_view name = "surest";
  static constexpr bool greater_is_better = false;
  static constexpr int sums(int) { return 1; }
  static void add(const ClassifiedRows& rows, std::span<double> sums) {
    CHECK(rows.logits.size() == rows.actual.size() * std::size_t(rows.classes));
    sums[0] += double(rows.actual.size());
  }
  static double value(std::span<const double> sums, int) { return sums[0]; }
};

using Net = Mlp<{.in = width, .hidden = 8, .out = classes, .classifier = true}>;
template <class... More>
using Classes = Made<Net, Batch<{.global = 20, .micro = 10}>, AdamW<{.lr = 3e-2}>, More...>;
using Measured = Classes<Metrics<Accuracy, F1<>, Surest>>;
/// It never learns, so no evaluation is better than the first.
using Still = Made<Net, Batch<{.global = 20, .micro = 10}>, AdamW<{.lr = 1e-30}>,
                   Metrics<Accuracy, Surest>, EarlyStop<{.patience = 3}>>;
using StillByAccuracy = Made<Net, Batch<{.global = 20, .micro = 10}>, AdamW<{.lr = 1e-30}>,
                             Metrics<Accuracy>, EarlyStop<{.patience = 2}, "accuracy">>;

struct Points {
  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
  Points() {
    for (int i = 0; i < rows; ++i) {
      inputs.insert(inputs.end(), {float(i % 10) / 10, float(i / 10) / 6});
      labels.push_back(i % 10 < 3 ? 0 : i / 10 < 3 ? 1 : 2);
    }
  }
  ArrayData training() const { return ArrayData({inputs, width, labels}, {.sequences = 20}); }
  EvaluationArrays all(int at_once = 16) const {
    return EvaluationArrays({inputs, width, labels}, at_once);
  }
};
const Points points;

double metric_of(const StepRecord& record, std::string_view name) {
  const auto found = std::ranges::find(record.metrics, name, &MetricValue::name);
  REQUIRE(found != record.metrics.end());
  return found->value;
}

TEST_CASE("a model of classes has accuracy unless its recipe has metrics") {
  const auto usual = Trainer<Classes<>>::options(), own = Trainer<Measured>::options();
  REQUIRE(usual->metrics.size() == 1);
  CHECK(usual->metrics[0].name == "accuracy");
  REQUIRE(own->metrics.size() == 3);
  CHECK(own->metrics[1].name == "f1_macro");
  CHECK(Trainer<Made<Mlp<>, AdamW<>>>::options()->metrics.empty());
}

TEST_CASE("each evaluation's metrics are in its row, whatever the sizes of its batches") {
  TemporaryFolder folder;
  for (const int at_once : {60, 16, 7}) {
    const fs::path path = folder / std::to_string(at_once);
    RunFolder run(path, RunFolder::Mode::fresh);
    Trainer<Measured> trainer({.seed = 2, .threads = 1});
    Loop loop(trainer, points.training(), points.all(at_once), &run);
    loop.run({.steps = 40, .evaluate_every = 10});
    // By the predictions of each row.
    int right = 0;
    for (int k = 0; k < rows; ++k) {
      HostBatch batch;
      batch.starts = {0, 1};
      batch.values = {{points.inputs[std::size_t(2 * k)], points.inputs[std::size_t(2 * k + 1)]}};
      const std::vector<float> logits = trainer.predict(batch).values;
      right += std::ranges::max_element(logits) - logits.begin() == points.labels[std::size_t(k)];
    }
    const StepRecord& last = loop.state().last;
    CHECK(metric_of(last, "accuracy") == double(right) / rows);
    CHECK(metric_of(last, "surest") == rows);
    int evaluated = 0;
    for (const nlohmann::json& row : json_rows(path / "metrics.jsonl")) {
      const bool has = row.contains("val_loss");
      evaluated += has;
      for (const char* key : {"val_accuracy", "val_f1_macro", "val_surest", "eval_ms"})
        CHECK(row.contains(key) == has);
      CHECK(row["step_cpu_ms"].get<double>() >= 0);
    }
    CHECK(evaluated == 4);
    const StepRecord again = StepRecord::from_json(last.to_json());
    CHECK(again.metrics == last.metrics);
    CHECK(again.evaluation_ms == last.evaluation_ms);
  }
}

TEST_CASE("a metric that is not finite is null in the log, and read as no number") {
  StepRecord record;
  record.validation_loss = 1;
  record.metrics = {{"strange", NAN}, {"plain", 2}};
  CHECK(record.to_json().find("\"val_strange\":null,\"val_plain\":2.0") != std::string::npos);
  const StepRecord again = StepRecord::from_json(record.to_json());
  REQUIRE(again.metrics.size() == 2);
  CHECK(std::isnan(again.metrics[0].value));
  CHECK(again.metrics[1] == MetricValue{"plain", 2});
}

TEST_CASE("the metric that best_by names chooses the best step") {
  Trainer<Measured> trainer({.seed = 2, .threads = 1});
  Loop loop(trainer, points.training(), points.all());
  double best = -1;
  std::int64_t best_step = 0;
  loop.run({.steps = 60,
            .evaluate_every = 5,
            .best_by = "accuracy",
            .on_step = [&](const StepRecord& record) {
              if (!record.validation_loss || metric_of(record, "accuracy") <= best) return;
              best = metric_of(record, "accuracy");
              best_step = record.step;
            }});
  CHECK(best > 0.5);
  CHECK(loop.state().best == best);
  CHECK(loop.state().best_step == best_step);
  CHECK(loop.state().best_by == "accuracy");
}

TEST_CASE("a metric that the recipe does not have is an error that lists those it has") {
  Trainer<Measured> trainer({.seed = 2, .threads = 1});
  Loop loop(trainer, points.training(), points.all());
  const std::string text =
      message_of<ArgumentError>([&] { loop.run({.steps = 5, .best_by = "f1"}); });
  CHECK(contains(text, "best_by names 'f1', and the recipe"));
  CHECK(contains(text, "It has: loss, accuracy, f1_macro, surest."));
  CHECK(trainer.steps() == 0);
}

TEST_CASE("a loop ends after as many evaluations without a better figure as it may wait for") {
  Trainer<Still> trainer({.seed = 2, .threads = 1});
  Loop loop(trainer, points.training(), points.all());
  CHECK(loop.run({.steps = 100, .evaluate_every = 4}) == LoopEnd::early);
  CHECK(trainer.steps() == 16);  // the first is the best
  CHECK(loop.state().waited == 3);
  CHECK(loop.state().best_step == 4);
  CHECK(loop.run({.steps = 100, .evaluate_every = 4}) == LoopEnd::early);
  CHECK(trainer.steps() == 16);
  CHECK(loop.run({.steps = 100, .evaluate_every = 4, .early_stop = EarlyStopping{.patience = 5}}) ==
        LoopEnd::early);
  CHECK(trainer.steps() == 24);

  Trainer<StillByAccuracy> by_accuracy({.seed = 2, .threads = 1});
  Loop other(by_accuracy, points.training(), points.all());
  CHECK(other.run({.steps = 100, .evaluate_every = 4}) == LoopEnd::early);
  CHECK(by_accuracy.steps() == 12);
  Trainer<Measured> learns({.seed = 2, .threads = 1});
  Loop third(learns, points.training(), points.all());
  CHECK(
      third.run({.steps = 40, .evaluate_every = 10, .early_stop = EarlyStopping{.patience = 1}}) ==
      LoopEnd::finished);
}

TEST_CASE("early stopping begins anew where another metric chooses the best step") {
  Trainer<Still> trainer({.seed = 2, .threads = 1});
  Loop loop(trainer, points.training(), points.all());
  loop.run({.steps = 12, .evaluate_every = 4});
  CHECK(loop.state().waited == 2);
  loop.run({.steps = 16, .evaluate_every = 4, .best_by = "accuracy"});
  CHECK(loop.state().waited == 0);
  CHECK(loop.state().patient_best == metric_of(loop.state().last, "accuracy"));
}

TEST_CASE("a figure that is better by less than min_delta does not count") {
  Trainer<Measured> trainer({.seed = 2, .threads = 1});
  Loop loop(trainer, points.training(), points.all());
  CHECK(loop.run({.steps = 100,
                  .evaluate_every = 2,
                  .early_stop = EarlyStopping{.patience = 3, .min_delta = 100}}) == LoopEnd::early);
  CHECK(trainer.steps() == 8);
  CHECK(loop.state().best_step == 8);  // of the checkpoints that is still the best
}

TEST_CASE("the count is in the checkpoint, and the best one stays") {
  TemporaryFolder folder;
  const fs::path path = folder / "run";
  const LoopOptions options{.steps = 100, .evaluate_every = 4, .save_every = 1};
  {
    RunFolder run(path, RunFolder::Mode::fresh);
    Trainer<Still> trainer({.seed = 2, .threads = 1});
    Loop loop(trainer, points.training(), points.all(), &run);
    LoopOptions shorter = options;
    shorter.stop = [&] { return trainer.steps() == 9; };
    CHECK(loop.run(shorter) == LoopEnd::stopped);
    CHECK(loop.state().waited == 1);
  }
  RunFolder run(path, RunFolder::Mode::resume);
  Trainer<Still> trainer({.seed = 2, .threads = 1});
  Loop loop(trainer, points.training(), points.all(), &run);
  CHECK(loop.state().waited == 1);
  CHECK(loop.run(options) == LoopEnd::early);
  CHECK(trainer.steps() == 16);
  CHECK(CheckpointReader(path / "best").step() == 4);
  CHECK(CheckpointReader(path / "last").step() == 16);
}

TEST_CASE("the first of several sets decides the best step, the rate and the end") {
  std::vector<std::int32_t> others;  // wrong ones, whose loss rises where the right ones' falls
  for (const std::int32_t label : points.labels) others.push_back((label + 1) % classes);
  const auto run = [&](const std::vector<std::int32_t>& first,
                       const std::vector<std::int32_t>& second, std::int64_t best_step) {
    Trainer<Classes<Plateau<{.patience = 1}>>> trainer({.seed = 2, .threads = 1});
    EvaluateStage sets(EvaluationArrays({points.inputs, width, first}, 16));
    sets.add("other", EvaluationArrays({points.inputs, width, second}, 16));
    Loop loop(trainer, points.training(), std::move(sets));
    const LoopEnd end =
        loop.run({.steps = 60, .evaluate_every = 10, .early_stop = EarlyStopping{.patience = 3}});
    CHECK(loop.state().best_step == best_step);
    CHECK((end == LoopEnd::early) == (best_step == 10));
    CHECK((loop.state().last.learning_rate < 3e-2) == (best_step == 10));
  };
  run(points.labels, others, 60);
  run(others, points.labels, 10);
}

TEST_CASE("a checkpoint without a count, as older versions wrote it, begins one") {
  TemporaryFolder folder;
  const fs::path path = folder / "run";
  using Unwatched = Made<Net, Batch<{.global = 20, .micro = 10}>, AdamW<{.lr = 1e-30}>>;
  {
    RunFolder run(path, RunFolder::Mode::fresh);
    Trainer<Unwatched> trainer({.seed = 2, .threads = 1});
    Loop loop(trainer, points.training(), points.all(), &run);
    loop.run({.steps = 8, .evaluate_every = 4});
  }
  CHECK_FALSE(contains(CheckpointReader(path / "last").info(), "early_stop"));
  RunFolder run(path, RunFolder::Mode::resume);
  Trainer<Unwatched> trainer({.seed = 2, .threads = 1});
  Loop loop(trainer, points.training(), points.all(), &run);
  CHECK(loop.run({.steps = 100, .evaluate_every = 4, .early_stop = EarlyStopping{.patience = 2}}) ==
        LoopEnd::early);
  CHECK(trainer.steps() == 20);  // the count's first figure is that of step 12
}

TEST_CASE("early stopping without evaluations is an error, or a warning where they come too late") {
  Trainer<Still> trainer({.seed = 2, .threads = 1});
  Loop none(trainer, points.training());
  CHECK(
      contains(message_of<ArgumentError>([&] { none.run({.steps = 5}); }),
               "early stopping acts on validation losses, but this loop has nothing to evaluate"));
  Loop late(trainer, points.training(), points.all());
  std::string warning;
  late.run({.steps = 5, .on_warning = [&](const std::string& text) { warning = text; }});
  CHECK(
      contains(warning, "early stopping acts on validation losses, but the first one comes after"));
  CHECK(contains(message_of<ArgumentError>(
                     [&] { late.run({.steps = 9, .early_stop = EarlyStopping{.patience = 0}}); }),
                 "a patience of at least 1"));
}

}  // namespace sinter::detail::testing::early_stop_tests

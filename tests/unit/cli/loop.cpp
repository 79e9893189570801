// SPDX-License-Identifier: Apache-2.0
// The training loop as a library: callers' own data, callbacks, a flag to stop.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <thread>

#include "cli/progress.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/sinter.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing::loop_tests {

struct small_fit : Recipe<Mlp<{.in = 2, .hidden = 16, .out = 1}>, AdamW<{.lr = 1e-2}>,
                          Batch<{.global = 32, .micro = 8}>> {};

struct Points {
  std::vector<float> inputs, targets;
  Points() {
    for (int i = 0; i < 200; ++i) {
      float a = float(i % 20) / 20, b = float(i / 20) / 10;
      inputs.insert(inputs.end(), {a, b});
      targets.push_back(2 * a - b);
    }
  }
  ArrayData training() const { return ArrayData(inputs, 2, targets, 1, {.sequences = 32}); }
  EvaluationArrays all() const { return EvaluationArrays(inputs, 2, targets, 1, 8); }
};
const Points points;

/// Gives a few batches and ends.
struct Finite {
  ArrayData data = points.training();
  int left;
  explicit Finite(int batches) : left(batches) {}
  bool next(HostBatch& batch) {
    batch.clear();
    return left-- > 0 && data.next(batch);
  }
  SamplerState state() const { return data.state(); }
  void restore(const SamplerState& s) { data.restore(s); }
};

/// Does `work` before each batch.
struct Slow {
  ArrayData data;
  std::function<void()> work;
  void next(HostBatch& batch) {
    work();
    data.next(batch);
  }
  SamplerState state() const { return data.state(); }
  void restore(const SamplerState& s) { data.restore(s); }
};

TEST_CASE("a loop trains, evaluates and tells") {
  Trainer<small_fit> trainer;
  Loop loop(trainer, points.training(), points.all());
  std::vector<StepRecord> told;
  LoopEnd end = loop.run({.steps = 60, .evaluate_every = 25, .on_step = [&](const StepRecord& r) {
                            told.push_back(r);
                          }});
  CHECK(end == LoopEnd::finished);
  REQUIRE(told.size() == 60);
  for (int s = 1; s <= 60; ++s) {
    CHECK(told[s - 1].step == s);
    CHECK(told[s - 1].tokens == 32 * s);
    CHECK(told[s - 1].validation_loss.has_value() == (s == 25 || s == 50 || s == 60));
  }
  CHECK(*told[59].validation_loss < *told[24].validation_loss);
  CHECK(loop.state().best == *told[59].validation_loss);
  CHECK(loop.state().best_step == 60);
  EvaluationArrays all = points.all();
  CHECK(trainer.evaluate(all).mean() == *told[59].validation_loss);
}

TEST_CASE("run() goes on where it stopped, and two loops do not disturb each other") {
  Trainer<small_fit> whole, parts;
  Loop one(whole, points.training()), two(parts, points.training());
  int asked = 0;
  CHECK(two.run({.steps = 10, .stop = [&] { return ++asked == 4; }}) == LoopEnd::stopped);
  CHECK(parts.steps() < 10);
  CHECK(one.run({.steps = 10}) == LoopEnd::finished);
  CHECK(two.run({.steps = 10}) == LoopEnd::finished);
  CHECK(two.run({.steps = 5}) == LoopEnd::finished);
  CHECK(parts.steps() == 10);
  CHECK(whole.parameter("output.weight") == parts.parameter("output.weight"));
  CHECK(one.state().last.loss == two.state().last.loss);
}

TEST_CASE("the end of the data is the end of the loop, with its evaluation") {
  Trainer<small_fit> trainer;
  Loop loop(trainer, Finite(7), points.all());
  CHECK(loop.run({.steps = 100}) == LoopEnd::finished);
  CHECK(trainer.steps() == 7);
  CHECK(loop.state().last.validation_loss);
}

TEST_CASE("a folder makes runs that can be resumed in another process") {
  testing::TemporaryFolder temporary;
  auto folder = temporary / "run";
  Trainer<small_fit> whole, first, second;
  Loop(whole, points.training(), points.all()).run({.steps = 30, .evaluate_every = 10});
  {
    RunFolder run(folder, RunFolder::Mode::fresh);
    int saved = 0;
    Loop loop(first, points.training(), points.all(), &run);
    loop.run({.steps = 13, .evaluate_every = 10, .save_every = 5, .on_save = [&](const auto&) {
                ++saved;
              }});
    CHECK(saved == 3);  // 5; 10, which is a new best, too; 13
  }
  RunFolder run(folder, RunFolder::Mode::resume);
  Loop loop(second, points.training(), points.all(), &run);
  CHECK(second.steps() == 13);
  CHECK(loop.state().last.step == 13);
  loop.run({.steps = 30, .evaluate_every = 10});
  CHECK(second.parameter("input.weight") == whole.parameter("input.weight"));
  CHECK(std::filesystem::read_symlink(folder / "last") == "step-00000030");
}

TEST_CASE("a loss that is not finite throws, and names no checkpoint where there is none") {
  std::vector<float> bad = points.targets;
  bad[150] = std::nanf("");
  Trainer<small_fit> trainer;
  Loop loop(trainer, ArrayData(points.inputs, 2, bad, 1, {.sequences = 32}));
  try {
    loop.run({.steps = 20});
    FAIL("it went on");
  } catch (const NonFiniteError& error) {
    std::string text = error.what();
    CHECK(text.find("The loss (NaN) of step " + std::to_string(trainer.steps() + 1)) != text.npos);
    CHECK(text.find("No checkpoint has been saved yet") != text.npos);
  }
  CHECK(trainer.steps() < 7);
  for (double w : trainer.parameter("output.weight")) CHECK(std::isfinite(w));
}

TEST_CASE("waiting for data and logging are warned of where they cost more than 2 %") {
  std::vector<std::string> told;
  LoopOptions options{.steps = 250,
                      .on_warning = [&](const std::string& text) { told.push_back(text); }};
  auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  SUBCASE("a source that is slower than the step") {
    Trainer<small_fit> trainer;
    Loop loop(trainer, Slow{points.training(), pause});
    loop.run(options);
    REQUIRE(!told.empty());
    CHECK(told[0].find("waiting for data took ") == 0);
    CHECK(told[0].find("faster disk") != std::string::npos);
    CHECK(told.size() == 1);  // once, although it goes on
  }
  SUBCASE("a slow listener") {
    Trainer<small_fit> trainer;
    Loop loop(trainer, points.training());
    options.on_step = [&](const StepRecord&) { pause(); };
    loop.run(options);
    REQUIRE(told.size() == 1);
    CHECK(told[0].find("logging took ") != std::string::npos);  // the reader may be starved, too
  }
}

TEST_CASE("an interval is a second and 20 steps; the first step does not count") {
  using std::chrono::microseconds;
  LoopTimes times;
  auto interval = [&](int steps, int step_us, int read_us, int record_us) {
    std::string text;
    for (int s = 0; s < steps; ++s) {
      CHECK(text.empty());
      times.add(LoopStage::read, microseconds(read_us));
      times.add(LoopStage::record, microseconds(record_us));
      text = times.lap(step_us / 1000.0);
    }
    return text;
  };
  CHECK(interval(1, 9'000'000, 8'000'000, 8'000'000) == "");  // the first step
  CHECK(interval(100, 10'000, 190, 190) == "");               // 1.9 %
  CHECK(interval(20, 100'000, 2'100, 190)
            .find("waiting for data took 2.1% of the time of the last "
                  "20 steps (2.10 of 100.00 ms a step). ") == 0);
  CHECK(interval(100, 10'000, 400, 0) == "");  // told before
  std::string both = interval(100, 10'000, 430, 5'000);
  CHECK(both.find("waiting for data took 4.3%") == 0);
  CHECK(both.find("\nlogging took 50.0%") != both.npos);
  CHECK(interval(100, 10'000, 500, 9'000) == "");
  times.restart(nullptr);
  CHECK(interval(1, 9'000'000, 8'000'000, 0) == "");
  CHECK(interval(100, 10'000, 300, 0).find("waiting for data took 3.0%") == 0);
}

TEST_CASE("a checkpoint that cannot be saved is tried again while an older one is good") {
  for (bool in_background : {true, false}) {
    CAPTURE(in_background);
    testing::TemporaryFolder temporary;
    RunFolder run(temporary / "run", RunFolder::Mode::fresh);
    auto taken = [&](const char* name) {  // by what is no checkpoint
      std::filesystem::create_directories(run.path() / name / "other");
    };
    taken("step-00000010");
    Trainer<small_fit> trainer;
    Loop loop(trainer, points.training(), {}, &run);
    std::vector<std::string> saved, warnings;
    LoopOptions options{.steps = 22,
                        .save_every = 5,
                        .save_in_background = in_background,
                        .on_save = [&](const auto& path) { saved.push_back(path.filename()); },
                        .on_warning = [&](const auto& text) { warnings.push_back(text); }};
    CHECK(loop.run(options) == LoopEnd::finished);
    CHECK(saved == std::vector<std::string>{"step-00000005", "step-00000015", "step-00000020",
                                            "step-00000022"});
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("a checkpoint could not be saved: ") == 0);
    CHECK(warnings[0].ends_with("step-00000005 is good, and saves again after a later step."));
    taken("step-00000024");
    options.steps = 24;
    CHECK_THROWS_AS(loop.run(options), FileError);  // the last one must succeed
    CHECK(CheckpointReader(run.path() / "last").step() == 22);
  }
  testing::TemporaryFolder temporary;
  RunFolder run(temporary / "run", RunFolder::Mode::fresh);
  std::filesystem::create_directories(run.path() / "step-00000005" / "other");
  Trainer<small_fit> trainer;
  Loop loop(trainer, points.training(), {}, &run);
  CHECK_THROWS_AS(loop.run({.steps = 20, .save_every = 5}), FileError);  // there is no older one
  CHECK(trainer.steps() < 20);
}

TEST_CASE("a checkpoint comes when so many minutes have passed, as well as at the end") {
  auto saved = [](double minutes) {
    testing::TemporaryFolder temporary;
    RunFolder run(temporary / "run", RunFolder::Mode::fresh);
    Trainer<small_fit> trainer;
    std::vector<std::string> names;
    Loop(trainer, points.training(), {}, &run)
        .run({.steps = 4, .save_minutes = minutes, .on_save = [&](const auto& path) {
                names.push_back(path.filename());
              }});
    return names;
  };
  CHECK(saved(1e-9) == std::vector<std::string>{"step-00000001", "step-00000002", "step-00000003",
                                                "step-00000004"});
  CHECK(saved(60) == std::vector<std::string>{"step-00000004"});
  CHECK(saved(0) == std::vector<std::string>{"step-00000004"});
}

TEST_CASE("a checkpoint has the state of its step, however far training goes on meanwhile") {
  auto saved = [](bool in_background) {
    testing::TemporaryFolder temporary;
    RunFolder run(temporary / "run", RunFolder::Mode::fresh, 100);
    Trainer<small_fit> trainer;
    Loop(trainer, points.training(), {}, &run)
        .run({.steps = 60, .save_every = 1, .save_in_background = in_background});
    std::vector<std::string> files;
    for (int step = 1; step <= 60; ++step)
      for (const char* file : {"model.safetensors", "state.safetensors"})
        files.push_back(testing::get(run.path() / step_folder_name(step) / file));
    return files;
  };
  CHECK(saved(true) == saved(false));
}

TEST_CASE("where a run stops does not change what its schedule sees") {
  struct plateau : Recipe<Mlp<{.in = 2, .hidden = 16, .out = 1}>, AdamW<{.lr = 1e-1}>,
                          Batch<{.global = 32, .micro = 8}>, Plateau<{.patience = 0}>> {};
  Trainer<plateau> whole, parts;
  Loop one(whole, points.training(), points.all()), two(parts, points.training(), points.all());
  std::vector<double> rates[2];
  auto options = [&](std::int64_t steps, std::vector<double>& to) {
    return LoopOptions{.steps = steps, .evaluate_every = 10, .on_step = [&to](const StepRecord& r) {
                         to.push_back(r.learning_rate);
                       }};
  };
  one.run(options(100, rates[0]));
  for (int steps : {13, 14, 37, 40, 51, 52, 53, 54, 99, 100}) two.run(options(steps, rates[1]));
  CHECK(rates[0] == rates[1]);
  CHECK(rates[0].back() < rates[0].front());
  CHECK(whole.parameter("output.weight") == parts.parameter("output.weight"));
}

TEST_CASE("a warning has a line of its own, and none where nothing is shown") {
  std::FILE* shown = std::tmpfile();
  REQUIRE(shown);
  cli::Progress(shown, {10, 1}).warn("one\ntwo");
  std::rewind(shown);
  char text[64]{};
  std::size_t size = std::fread(text, 1, sizeof text, shown);
  CHECK(std::string(text, size) == "warning: one\nwarning: two\n");
  std::fclose(shown);
  cli::Progress(nullptr, {10, 1}).warn("one");
}

TEST_CASE("a row of the log is read as it was written") {
  StepRecord record{3, 0.1, 2.5, 1e-4, 96, 1234.5, 0.25, std::nullopt};
  std::string text = record.to_json();
  CHECK(text == R"({"step":3,"loss":0.1,"grad_norm":2.5,"lr":0.0001,"tokens":96,)"
                R"("tokens_per_s":1234.5,"step_ms":0.25})");
  CHECK(StepRecord::from_json(text).to_json() == text);
  record.validation_loss = 1.5;
  CHECK(StepRecord::from_json(record.to_json()).validation_loss == 1.5);
  record.data_wait_ms = 0.125;
  record.examples = ExampleRecord{40, 0.25, 12.5, 3.5, 0.0625};
  text = record.to_json();
  CHECK(text.ends_with(R"("step_ms":0.25,"data_wait_ms":0.125,"examples_per_s":40.0,)"
                       R"("padding":0.25,"context_length":12.5,"label_length":3.5,)"
                       R"("truncated":0.0625,"val_loss":1.5})"));
  CHECK(StepRecord::from_json(text).to_json() == text);  // as older versions wrote it
  record.examples = ExampleRecord{40, 0.25, 12.5, 3.5, 0.0625, 25.5, 4.5, 0.5, 0.25};
  text = record.to_json();
  CHECK(text.ends_with(R"("truncated":0.0625,"full_context_length":25.5,"full_label_length":4.5,)"
                       R"("context_truncated":0.5,"label_truncated":0.25,"val_loss":1.5})"));
  CHECK(StepRecord::from_json(text).to_json() == text);
  CHECK_THROWS_AS(StepRecord::from_json("{}"), Error);
}

}  // namespace sinter::detail::testing::loop_tests

// SPDX-License-Identifier: Apache-2.0
#include "sinter/recovery/roll_back.hpp"

#include <nlohmann/json.hpp>

#include "sinter/parallel/ddp.hpp"
#include "sinter/parameters/average.hpp"
#include "sinter/schedule/cosine_decay.hpp"
#include "support/json_rows.hpp"
#include "unit/recovery/support.hpp"

namespace sinter::detail::testing::roll_back_tests {

constexpr CosineDecayOptions decay{.warmup = 3, .steps = 40};
/// What a roll back must take back and must not: averages, a schedule, ranks.
template <class... Policies>
using Full = Net<CosineDecay<decay>, Average<>, Ddp<{.ranks = 2}>, Policies...>;
using Rolling = Full<RollBack<>>;
const TrainerSettings two{.seed = 1, .threads = 2};

NamedNumbers all_of(const TrainerCore& trainer) {
  NamedNumbers all = parameters_of(trainer);
  for (const Parameter& p : trainer.parameters())
    for (const char* region : {"ema", "exp_avg", "exp_avg_sq"})
      all[region + p.name] = trainer.state(region, p.name);
  return all;
}

/// Takes steps on the batches from `first` on, up to a step, at a part of the recipe's rate.
template <class R>
void take(Trainer<R>& trainer, std::uint64_t first, std::int64_t until) {
  while (trainer.steps() < until) applied(trainer, rows(first++));
}

std::vector<nlohmann::json> log_of(const fs::path& run) { return json_rows(run / "metrics.jsonl"); }

/// All of the newest checkpoint, and of the log, but for times.
std::string end_of(const fs::path& run) {
  const CheckpointReader last(run / "last");
  auto without_times = [](nlohmann::json row) {
    for (const char* time : {"step_ms", "step_cpu_ms", "eval_ms", "data_wait_ms", "tokens_per_s"})
      row.erase(time);
    return row;
  };
  nlohmann::json info = nlohmann::json::parse(last.info());
  info["loop"]["last"] = without_times(info["loop"]["last"]);
  std::string all = get(last.file("model.safetensors")) + get(last.file("state.safetensors"));
  all += info.dump();
  for (const nlohmann::json& row : log_of(run)) all += without_times(row).dump() + "\n";
  return all;
}

/// What is said where a run diverges.
std::string why_it_stops(Loop& loop, const LoopOptions& options) try {
  loop.run(options);
  return "";
} catch (const DivergedError& error) {
  return error.what();
}

struct Interrupted {};

TEST_CASE(
    "a run goes back to its checkpoint, and on at half the rate with the batches that follow") {
  TemporaryFolder folder;
  RunFolder run(folder / "run", RunFolder::Mode::fresh);
  Trainer<Rolling> trainer(two);
  Loop loop(trainer, Batches{.bad = {8, 12}}, {}, &run);
  Warnings warnings;
  loop.run({.steps = 12, .save_every = 3, .on_warning = warnings.listener()});

  // Steps 1 to 6 take the batches 0 to 5; step 9 meets the bad one, 8, and the run is at 6 again.
  // Steps 7 to 9 take 9 to 11; step 10 meets 12; steps 10 to 12 take 13 to 15.
  auto half = [](double factor) {
    const auto view = Trainer<Full<>>::options();
    for (const Option& option : view->options)
      if (option.dotted() == "optimizer.lr") **std::get_if<double*>(&option.value) *= factor;
    return Trainer<Full<>>(view, two);
  };
  Trainer<Full<>> first(two), second = half(0.5), third = half(0.25);
  take(first, 0, 6);
  first.save(folder / "6");
  second.load(folder / "6");
  take(second, 9, 9);
  second.save(folder / "9");
  third.load(folder / "9");
  take(third, 13, 12);
  CHECK(all_of(trainer) == all_of(third));
  CHECK(loop.state().last.tokens == 12 * 8);

  REQUIRE(warnings.all.size() == 2);
  CHECK(warnings.all[0] ==
        "step 9 goes wrong: its loss or gradients are not finite. Training goes back to step 6 (" +
            (folder / "run/step-00000006").string() +
            "), and on from there with the batches that come next and a learning rate of 0.00492.");
}

TEST_CASE("the log of a run that went back has each step once, and says where it went back") {
  TemporaryFolder folder;
  RunFolder run(folder / "run", RunFolder::Mode::fresh);
  Trainer<Rolling> trainer(two);
  Loop loop(trainer, Batches{.bad = {8}}, {}, &run);
  loop.run({.steps = 12, .save_every = 3});
  std::int64_t step = 0;
  int events = 0;
  for (const nlohmann::json& row : log_of(folder / "run")) {
    if (!row.contains("event")) {
      CHECK(row["step"] == ++step);
      CHECK(row["lr"] == trainer.recipe().learning_rate(step) * (step <= 6 ? 2 : 1));
      continue;
    }
    ++events;
    CHECK(row["event"] == "rolled back");
    CHECK(row["step"] == 6);
    CHECK(step == 6);
    CHECK(contains(row["text"], "step 9 goes wrong"));
  }
  CHECK(step == 12);
  CHECK(events == 1);
}

TEST_CASE("the batches are seen again where that is asked for") {
  TemporaryFolder folder;
  RunFolder run(folder / "run", RunFolder::Mode::fresh);
  Trainer<Full<RollBack<{.factor = 0.5, .skip_batches = false}>>> trainer(two);
  Loop loop(trainer, Batches{.bad_once = {8}}, {}, &run);
  loop.run({.steps = 10, .save_every = 3});
  Trainer<Full<>> before(two);
  take(before, 0, 6);
  before.save(folder / "6");
  const auto view = Trainer<Full<>>::options();
  for (const Option& option : view->options)
    if (option.dotted() == "optimizer.lr") **std::get_if<double*>(&option.value) *= 0.5;
  Trainer<Full<>> after(view, two);
  after.load(folder / "6");
  take(after, 6, 10);
  CHECK(all_of(trainer) == all_of(after));
}

/// It is cut off between the roll back and its checkpoint, right after that, and later.
TEST_CASE("a run that went back, was killed and resumed has the bits of one that was not killed") {
  for (bool repeat : {false, true})
    for (int killed_at : {0, 7, 8}) {
      CAPTURE(repeat);
      CAPTURE(killed_at);
      TemporaryFolder folder;
      auto train = [&](const fs::path& path, RunFolder::Mode mode, std::set<std::uint64_t> bad,
                       bool cut) {
        RunFolder run(path, mode);
        const auto view = Trainer<Rolling>::options();
        for (const Option& option : view->options)
          if (option.dotted() == "recovery.skip_batches")
            **std::get_if<bool*>(&option.value) = !repeat;
        Trainer<Rolling> trainer(view, two);
        Batches batches;
        (repeat ? batches.bad_once : batches.bad) = std::move(bad);
        Loop loop(trainer, batches, {}, &run);
        bool rolled_back = false;
        LoopOptions options{.steps = 14, .save_every = 3, .save_in_background = false};
        options.on_warning = [&](const std::string&) {
          rolled_back = true;
          if (cut && killed_at == 0) throw Interrupted();
        };
        options.on_step = [&](const StepRecord& record) {
          if (cut && rolled_back && record.step == killed_at) throw Interrupted();
        };
        loop.run(options);
      };
      train(folder / "whole", RunFolder::Mode::fresh, {8, 14}, false);
      CHECK_THROWS_AS(train(folder / "cut", RunFolder::Mode::fresh, {8, 14}, true), Interrupted);
      // A batch that is bad once is good by then, unless the roll back itself is lost.
      const bool again = !repeat || killed_at == 0;
      train(folder / "cut", RunFolder::Mode::resume,
            again ? std::set<std::uint64_t>{8, 14} : std::set<std::uint64_t>{14}, false);
      auto without_path = [](std::string text, const std::string& path) {
        for (std::size_t at; (at = text.find(path)) != text.npos;) text.erase(at, path.size());
        return text;
      };
      const std::string whole = without_path(end_of(folder / "whole"), (folder / "whole").string());
      std::string cut = without_path(end_of(folder / "cut"), (folder / "cut").string());
      if (killed_at == 0) {  // it went back twice, and the log says so
        const std::size_t at = cut.find("{\"event\"");
        REQUIRE(at != cut.npos);
        cut.erase(at, cut.find('\n', at) + 1 - at);
      }
      CHECK(cut == whole);
    }
}

TEST_CASE("a run goes back so many times, and then stops with its last good checkpoint") {
  TemporaryFolder folder;
  RunFolder run(folder / "run", RunFolder::Mode::fresh);
  Trainer<Full<RollBack<{.most = 2}>>> trainer(two);
  Loop loop(trainer, Batches{.bad = {5, 6, 7}}, {}, &run);
  Warnings warnings;
  const std::string what =
      why_it_stops(loop, {.steps = 20, .save_every = 2, .on_warning = warnings.listener()});
  CHECK(contains(
      what,
      "The loss (NaN) of step 5 is not finite, and RollBack gives up (recovery.most is 2), so "
      "training stops."));
  CHECK(contains(what, "step-00000004"));
  CHECK(warnings.all.size() == 2);
  const std::string info = CheckpointReader(folder / "run/last").info();
  CHECK(contains(info, "\"recovery.rolled_back\":2"));
  CHECK(contains(info, "\"recovery.factor\":0.25"));
}

TEST_CASE("if there is no checkpoint to go back to, the error says how to have one") {
  Trainer<Net<RollBack<>>> trainer(settings), other(settings);
  TemporaryFolder folder;
  RunFolder run(folder / "run", RunFolder::Mode::fresh);
  Loop loop(trainer, Batches{.bad = {3}}, {}, &run), without(other, Batches{.bad = {3}});
  CHECK_THROWS_AS(without.run({.steps = 9}), NonFiniteError);
  CHECK(contains(why_it_stops(loop, {.steps = 9, .save_every = 5}),
                 "No checkpoint has been saved yet to go back to: save earlier (save_every; "
                 "--save-every N)."));
}

TEST_CASE("a checkpoint that is still being written is the one to go back to") {
  TemporaryFolder folder;
  RunFolder run(folder / "run", RunFolder::Mode::fresh);
  Trainer<Net<RollBack<>>> trainer(settings);
  Loop loop(trainer, Batches{.bad = {7}}, {}, &run);
  Warnings warnings;
  loop.run({.steps = 9, .save_every = 1, .on_warning = warnings.listener()});
  REQUIRE(warnings.all.size() == 1);
  CHECK(contains(warnings.all[0], "step 8 goes wrong"));
  CHECK(contains(warnings.all[0], "back to step 7"));
}

TEST_CASE("some steps may be skipped before a run goes back") {
  Trainer<Net<RollBack<{.skips = 2}>>> trainer(settings);
  auto reaction = [&] {
    const Outcome outcome = trainer.step(rows(1, NAN));
    return std::get<Skipped>(outcome).reaction;
  };
  CHECK(reaction() == Reaction::skip);
  CHECK(reaction() == Reaction::skip);
  applied(trainer, rows(1));
  CHECK(reaction() == Reaction::skip);
  CHECK(reaction() == Reaction::skip);
  CHECK(reaction() == Reaction::roll_back);
  CHECK(reaction() == Reaction::skip);
}

TEST_CASE("an overflow of the loss scale is no reason to go back until the scale is at its least") {
  Trainer<Net<ScaledByFour, RollBack<>>> trainer(settings);
  auto reaction = [&] { return std::get<Skipped>(trainer.step(rows(1, NAN))).reaction; };
  CHECK(reaction() == Reaction::skip);
  CHECK(reaction() == Reaction::skip);
  CHECK(trainer.recipe().learning_rate(1) == 1e-2);
  CHECK(reaction() == Reaction::roll_back);
  CHECK(trainer.recipe().learning_rate(1) == 5e-3);
  CHECK(reaction() == Reaction::roll_back);
  CHECK(reaction() == Reaction::roll_back);
  CHECK_THROWS_AS((void)trainer.step(rows(1, NAN)), NonFiniteError);
}

}  // namespace sinter::detail::testing::roll_back_tests

// SPDX-License-Identifier: Apache-2.0
#include "sinter/recovery/skip_steps.hpp"

#include "unit/recovery/support.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::detail::testing;

namespace {

using Skipping = Net<SkipSteps<{.most = 2}>>;

/// Whether a bad batch is one to go on after.
bool goes_on(TrainerCore& trainer) {
  Outcome outcome = trainer.step(rows(100, NAN));
  REQUIRE(std::holds_alternative<Skipped>(outcome));
  return std::get<Skipped>(outcome).reaction == Reaction::skip;
}

}  // namespace

TEST_CASE("a bad batch changes nothing, and training goes on with the next") {
  Trainer<Skipping> skipping(settings);
  Trainer<Net<>> without(settings);
  for (int s = 0; s < 6; ++s) {
    if (s % 2 == 1) CHECK(goes_on(skipping));
    applied(skipping, rows(s));
    applied(without, rows(s));
  }
  CHECK(skipping.steps() == 6);
  CHECK(parameters_of(skipping) == parameters_of(without));
}

TEST_CASE("too many skipped steps in a row stop a run, and checkpoints count them") {
  Trainer<Skipping> trainer(settings), again(settings);
  CHECK(goes_on(trainer));
  CHECK(goes_on(trainer));
  TemporaryFolder folder;
  trainer.save(folder / "saved");
  CHECK(!goes_on(trainer));
  again.load(folder / "saved");
  CHECK(!goes_on(again));
  again.load(folder / "saved");
  applied(again, rows(1));
  CHECK(goes_on(again));
  CHECK(goes_on(again));
  CHECK(!goes_on(again));
}

TEST_CASE("a recipe without SkipSteps stops at the first bad step") {
  Trainer<Net<>> trainer(settings);
  CHECK(!goes_on(trainer));
}

TEST_CASE(
    "a loop warns of each skipped step, and stops with the last good checkpoint at too many") {
  Trainer<Skipping> trainer(settings);
  TemporaryFolder folder;
  RunFolder run(folder / "run", RunFolder::Mode::fresh);
  Loop loop(trainer, Batches{{2, 3, 8, 9, 10}}, {}, &run);
  std::vector<std::string> warnings;
  LoopOptions options{.steps = 20, .save_every = 2, .on_warning = [&](const std::string& text) {
                        warnings.push_back(text);
                      }};
  std::string what;
  try {
    loop.run(options);
  } catch (const NonFiniteError& error) {
    what = error.what();
  }
  CHECK(trainer.steps() == 6);
  CHECK(warnings.size() == 4);
  CHECK(
      warnings[0] ==
      "step 3 is skipped: its loss or gradients are not finite. Weights, state and schedule are as "
      "they were.");
  CHECK(what.find("of step 7 is not finite, and SkipSteps gives up (recovery.most is 2), so "
                  "training stops.") != std::string::npos);
  CHECK(what.find("step-00000006") != std::string::npos);
}

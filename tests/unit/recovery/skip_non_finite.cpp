// SPDX-License-Identifier: Apache-2.0
#include "sinter/recovery/skip_non_finite.hpp"

#include <cmath>

#include "sinter/files/run_folder.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/trainer/loop.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

using namespace sinter;
using namespace sinter::testing;

namespace {

template <class... Policies>
using Net = Made<Mlp<{.in = 3, .hidden = 8, .out = 2}>, Batch<{.global = 8, .micro = 2}>,
                 AdamW<{.lr = 1e-2}>, Policies...>;
using Skipping = Net<SkipNonFinite<{.most = 2}>>;
constexpr TrainerSettings settings{.seed = 1, .threads = 1};

HostBatch rows(std::uint64_t seed, bool bad = false) {
  HostBatch batch = regression_batch({1, 1, 1, 1, 1, 1, 1, 1}, 3, 2, seed);
  if (bad) batch.values[0][5] = NAN;
  return batch;
}

/// Whether a bad batch is one to go on after.
bool goes_on(TrainerCore& trainer) {
  Outcome outcome = trainer.step(rows(100, true));
  REQUIRE(std::holds_alternative<Skipped>(outcome));
  return std::get<Skipped>(outcome).expected;
}

/// Gives bad batches at the numbers in `bad`, counted from 0.
struct Batches {
  std::vector<std::uint64_t> bad;
  std::uint64_t number = 0;

  void next(HostBatch& batch) {
    batch = rows(number, std::find(bad.begin(), bad.end(), number) != bad.end());
    ++number;
  }
  SamplerState state() const { return {.items = number}; }
  void restore(const SamplerState& saved) { number = saved.items; }
};

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

TEST_CASE("so many in a row are too many, and checkpoints count them") {
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

TEST_CASE("a recipe without the policy stops at the first") {
  Trainer<Net<>> trainer(settings);
  CHECK(!goes_on(trainer));
}

TEST_CASE("a loop warns of each, and stops with the last good checkpoint where they are too many") {
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
  CHECK(what.find("of step 7 is not finite, so training stops") != std::string::npos);
  CHECK(what.find("step-00000006") != std::string::npos);
}

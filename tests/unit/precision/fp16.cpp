// SPDX-License-Identifier: Apache-2.0
// Training in half precision against fp32, with fp32 master weights and without.
#include "sinter/precision/fp16.hpp"
#include "sinter/data/windows.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/memory/checkpoint.hpp"
#include "sinter/model/gpt2.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "sinter/optimizer/sgd.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/trainer/loop.hpp"
#include "support/batches.hpp"
#include "support/copies.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing::fp16_tests {

using Safe = Fp16<>;
using Lean = Fp16<{.masters = false}>;
using Small = Gpt2<{.layers = 3, .heads = 4, .width = 48, .vocabulary = 31, .positions = 24}>;
template <int Micro, class... Policies>
using Text = Made<Small, UpTo<24, 31>, Batch<{.global = 4, .micro = Micro}>,
                  AdamW<{.lr = 3e-3, .weight_decay = .1}>, Policies...>;
HostBatch text(std::uint64_t seed) { return token_batch({24, 7, 24, 16}, 31, seed); }
const TrainerSettings settings{.seed = 1, .threads = 1};

// ---- bytes for each parameter, as AdamW keeps them: planned, and what the machine has
static_assert(copied_once<Text<1, Safe>>() && copied_once<Text<4, Safe, Checkpoint<>>>());
template <class P>
constexpr std::int64_t persistent = Plan<Text<4, P>>::bytes - Plan<Text<4, P>>::memory.activations -
                                    Plan<Text<4, P>>::memory.workspace;
constexpr std::int64_t elements = Plan<Text<4, Fp32>>::model.elements();
static_assert(persistent<Fp32> == 16 * elements);
static_assert(persistent<Safe> == 18 * elements);
static_assert(persistent<Lean> >= 12 * elements && persistent<Lean> < 12 * elements + 5 * 64);
static_assert(Plan<Text<4, Lean>>::memory.weights == 0);
static_assert(Plan<Text<4, Lean>>::memory.activations == Plan<Text<4, Safe>>::memory.activations);

/// Each rounding errs by at most 2^-12 of the number, and some tens are passed (see bfloat16).
template <class P>
void check_gradients(double bound) {
  Trainer<Text<4, Fp32>> full(settings);
  Trainer<Text<4, P>> half(settings);
  Applied a = applied(full, text(1)), b = applied(half, text(1));
  CHECK(relative_difference(b.loss.mean(), a.loss.mean()) < 0x1p-11);
  CHECK(relative_difference(b.gradient_norm, a.gradient_norm) < bound);
  for (const auto& [name, want] : gradients_of(full)) {
    CAPTURE(name);
    Numbers difference = half.gradient(name);
    for (std::size_t k = 0; k < want.size(); ++k) difference[k] -= want[k];
    CHECK(norm_of(difference) < bound * norm_of(want) + 1e-6);
    CHECK(norm_of(difference) > 0);
  }
}
TEST_CASE("gradients are those of fp32, to rounding") {
  check_gradients<Safe>(.03 / 8);
  check_gradients<Lean>(.03 / 8);  // weights, too, are rounded, once
}

TEST_CASE("the loss falls as in fp32") {
  auto check = [&]<class P>(P, double bound) {
    Trainer<Text<2, Fp32>> full(settings);
    Trainer<Text<2, P>> half(settings);
    double first = 0, last = 0;
    for (int s = 0; s < 40; ++s) {
      CAPTURE(s);
      const double want = applied(full, text(s % 4)).loss.mean();
      last = applied(half, text(s % 4)).loss.mean();
      CHECK(relative_difference(last, want) < bound);
      if (s == 0) first = last;
    }
    CHECK(last < .8 * first);
  };
  check(Safe{}, .02 / 8);
  check(Lean{}, .02);  // updates of 3e-3 are rounded to a unit of 2^-12 of the weight
}

TEST_CASE("any split of the batch and any ranks give the same gradients") {
  Trainer<Text<4, Safe>> whole(settings);
  Trainer<Text<1, Safe>> split(settings);
  Trainer<Text<1, Safe, Ddp<>>> ranks({.seed = 1, .threads = 2});
  applied(whole, text(1));
  applied(split, text(1));
  applied(ranks, text(1));
  for (const auto& [name, want] : gradients_of(whole)) {
    CAPTURE(name);
    CHECK(relative_difference(split.gradient(name), want) < 2e-3);
    CHECK(relative_difference(ranks.gradient(name), want) < 2e-3);
  }
}

/// 2^24 is more than half precision's range by far: the scale finds its place.
TEST_CASE("overflows are skipped until the scale fits") {
  auto check = [&]<class P>(P) {
    Trainer<Text<2, P>> trainer(settings);
    Trainer<Text<2, P>> same(settings);
    NamedNumbers before = parameters_of(trainer);
    int skipped = 0;
    while (std::holds_alternative<Skipped>(trainer.step(text(1)))) {
      ++skipped;
      CHECK(trainer.steps() == 0);
      CHECK(parameters_of(trainer) == before);
      REQUIRE(skipped < 40);
    }
    CHECK(skipped > 0);
    CHECK(trainer.loss_scale() == std::ldexp(1., 40 - skipped));
    // A scale that began there takes the same step.
    const auto view = Trainer<Text<2, P>>::options();
    for (Option& option : view->options)
      if (option.dotted() == "precision.initial_scale")
        *std::get<double*>(option.value) = trainer.loss_scale();
    Trainer<Text<2, P>> fitting(view, settings);
    applied(fitting, text(1));
    CHECK(parameters_of(fitting) == parameters_of(trainer));
  };
  check(Fp16<{.initial_scale = 0x1p40}>{});
  check(Fp16<{.masters = false, .initial_scale = 0x1p40}>{});
}

TEST_CASE("a resumed run goes on, bit for bit; recomputation changes none") {
  auto check = [&]<class P>(P) {
    TemporaryFolder folder;
    Trainer<Text<2, P>> trainer(settings), again({.seed = 2, .threads = 1});
    Trainer<Text<2, P, Checkpoint<>>> recomputed(settings);
    for (int s = 0; s < 3; ++s) {
      applied(trainer, text(s));
      applied(recomputed, text(s));
    }
    CHECK(parameters_of(recomputed) == parameters_of(trainer));
    trainer.save(folder / "saved");
    again.load(folder / "saved");
    CHECK(again.evaluate(text(9)).sum == trainer.evaluate(text(9)).sum);
    for (int s = 3; s < 6; ++s)
      CHECK(applied(again, text(s)).loss.sum == applied(trainer, text(s)).loss.sum);
    CHECK(parameters_of(again) == parameters_of(trainer));
    Trainer<Text<2, Fp32>> full({.seed = 3, .threads = 1});
    full.load_weights(folder / "saved");
    again.load(folder / "saved");
    CHECK(parameters_of(full) == parameters_of(again));
    full.save(folder / "full");
    again.load_weights(folder / "full");
    CHECK(parameters_of(full) == parameters_of(again));
  };
  check(Safe{});
  check(Lean{});
}

/// Losses and loss scales of the steps that are applied.
using Rows = std::vector<std::pair<double, double>>;
/// Trains on different batches from a scale that is too large; stops after so many skipped steps.
Rows train_on(TrainerCore& trainer, RunFolder& folder, int max_skipped) {
  std::vector<std::int32_t> tokens;
  for (int k = 0; k < 2000; ++k) tokens.push_back((k * k + k / 7) % 31);
  Loop loop(trainer, ShuffledWindows(tokens, {24, 4}, 3), {}, &folder);
  Rows rows;
  int skipped = 0;
  loop.run(
      {.steps = 6,
       .save_every = 2,
       .on_step = [&](const StepRecord& r) { rows.emplace_back(r.loss, trainer.loss_scale()); },
       .on_warning = [&](const std::string& w) { skipped += w.find("skipped") != w.npos; },
       .stop = [&] { return skipped == max_skipped; }});
  return rows;
}
TEST_CASE("a run that is stopped after a skipped step is the one that was not") {
  TemporaryFolder scratch;
  using R = Text<2, Fp16<{.initial_scale = 0x1p40, .growth_interval = 3}>>;
  Trainer<R> whole(settings);
  RunFolder fresh(scratch / "whole", RunFolder::Mode::fresh);
  const Rows want = train_on(whole, fresh, -1);
  CHECK(want.size() == 6);
  for (int stop : {1, 3, 9}) {
    CAPTURE(stop);
    const auto folder = scratch / std::to_string(stop);
    Trainer<R> first(settings), second({.seed = 2, .threads = 1});
    Rows got;
    {
      RunFolder run(folder, RunFolder::Mode::fresh);
      got = train_on(first, run, stop);
      CHECK(got.size() < 6);
    }
    RunFolder run(folder, RunFolder::Mode::resume);
    for (const auto& row : train_on(second, run, -1)) got.push_back(row);
    CHECK(got == want);
    CHECK(parameters_of(second) == parameters_of(whole));
    CHECK(second.loss_scale() == whole.loss_scale());
  }
}

TEST_CASE("fp16 without masters trains with other optimizers") {
  using Plain = Made<Small, UpTo<24, 31>, Batch<{.global = 4, .micro = 4}>,
                     Sgd<{.lr = .1, .momentum = .9}>, Lean>;
  static_assert(ready<Plain>());
  Trainer<Plain> trainer(settings);
  double first = applied(trainer, text(1)).loss.mean(), last = 0;
  for (int s = 0; s < 20; ++s) last = applied(trainer, text(1)).loss.mean();
  CHECK(last < .9 * first);
}

}  // namespace sinter::detail::testing::fp16_tests

// SPDX-License-Identifier: Apache-2.0
// The moving average of the weights, and clipping by value: what is done to weights and gradients
// one by one.
#include "sinter/parameters/average.hpp"
#include "sinter/clipping/clip_value.hpp"
#include "sinter/error.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/parallel/ddp.hpp"
#include "sinter/parameters/freeze.hpp"
#include "sinter/recipe/techniques.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {
namespace {

template <class... Policies>
using Net =
    Made<Mlp<{.in = 3, .hidden = 24, .out = 2}>, Batch<{.global = 8, .micro = 4}>, Policies...>;
HostBatch rows(std::uint64_t seed) {
  return regression_batch({1, 1, 1, 1, 1, 1, 1, 1}, 3, 2, seed);
}
const TrainerSettings settings{.seed = 1, .threads = 1};

template <AverageOptions O, class... Policies>
void check_average(double tolerance) {
  Trainer<Net<Average<O>, Policies...>> trainer(settings);
  Trainer<Net<Policies...>> without(settings);
  NamedNumbers want;
  for (int t = 1; t <= 30; ++t) {
    applied(trainer, rows(t));
    applied(without, rows(t));
    if (t == 15) {  // a step that is skipped does not count
      HostBatch bad = rows(1);
      bad.values[0][0] = NAN;
      CHECK(std::holds_alternative<Skipped>(trainer.step(bad)));
    }
    const double decay = O.warmup ? std::min(O.decay, (1. + t) / (10 + t)) : O.decay;
    for (const auto& [name, now] : parameters_of(trainer)) {
      Numbers& average = want[name];
      if (t == 1) average = now;
      for (std::size_t k = 0; k < now.size(); ++k)
        average[k] = decay * average[k] + (1 - decay) * now[k];
    }
  }
  CHECK(parameters_of(trainer) == parameters_of(without));
  for (const auto& [name, average] : want) {
    CHECK(relative_difference(trainer.state("ema", name), average) < tolerance);
    CHECK(trainer.state("ema", name) != trainer.parameter(name));
  }
}

/// Each of 30 updates rounds twice.
TEST_CASE("the average follows its definition, and changes no weight") {
  check_average<{.decay = .9}>(60 * 0x1p-24);
  check_average<{.decay = .8, .warmup = false}>(60 * 0x1p-24);
  check_average<{.decay = .9}, Bf16>(60 * 0x1p-24);
  check_average<{.decay = .9}, Fp16<{.masters = false, .initial_scale = 256}>>(60 * 0x1p-24);
  if (has_thread_ranks) check_average<{.decay = .9}, Ddp<>>(60 * 0x1p-24);
}

TEST_CASE("weights can be taken from the average") {
  using R = Net<Average<{.decay = .9}>, Freeze<"input">>;
  TemporaryFolder folder;
  Trainer<R> trainer(settings), averaged({.seed = 2, .threads = 1});
  for (int t = 0; t < 5; ++t) applied(trainer, rows(t));
  trainer.save(folder / "saved");
  averaged.load_weights(folder / "saved", "ema");
  CHECK(averaged.parameter("input.weight") == trainer.parameter("input.weight"));  // frozen
  CHECK(averaged.parameter("output.weight") == trainer.state("ema", "output.weight"));
  trainer.export_to(folder / "exported");
  CHECK_THROWS_AS(averaged.load_weights(folder / "exported", "ema"), ArgumentError);
  Trainer<Net<>> none(settings);
  none.save(folder / "none");
  CHECK_THROWS_AS(averaged.load_weights(folder / "none", "ema"), FileError);
}

TEST_CASE("clipping by value clamps each gradient") {
  constexpr double limit = 1e-3;
  auto check = [&]<class R>(R) {
    static_assert(ready<R>());
    Trainer<R> trainer(settings);
    NamedNumbers before = parameters_of(trainer);
    applied(trainer, rows(1));
    int clamped = 0;
    for (const auto& [name, gradient] : gradients_of(trainer)) {
      Numbers now = trainer.parameter(name), was = before[name];
      for (std::size_t k = 0; k < now.size(); ++k) {
        const double step = std::clamp(gradient[k], -limit, limit);
        clamped += step != gradient[k];
        CHECK(was[k] - now[k] == doctest::Approx(step).epsilon(1e-3));
      }
    }
    CHECK(clamped > 3);
  };
  check(Net<ClipValue<{.limit = limit}>, Sgd<{.lr = 1}>>{});
  check(Net<ClipValue<{.limit = limit}>, Sgd<{.lr = 1}>, Fp16<{.initial_scale = 256}>>{});
}

}  // namespace
}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
// What tests of the moving average share.
#pragma once
#include <doctest/doctest.h>

#include <algorithm>

#include "sinter/model/mlp.hpp"
#include "sinter/parameters/average.hpp"
#include "support/batches.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing {

template <class... Policies>
using Net =
    Made<Mlp<{.in = 3, .hidden = 24, .out = 2}>, Batch<{.global = 8, .micro = 4}>, Policies...>;
inline HostBatch rows(std::uint64_t seed) {
  return regression_batch({1, 1, 1, 1, 1, 1, 1, 1}, 3, 2, seed);
}
inline const TrainerSettings settings{.seed = 1, .threads = 1};

/// Compares the averages of 30 steps with their definition. `tolerance` is relative.
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
constexpr double average_tolerance = 60 * 0x1p-24;

}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
// A complete schedule: options, contradictions between them, and the factor of each step.
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

struct TriangularOptions {
  std::int64_t period = 100;  // steps between two minima of the rate
  std::int64_t rise = 50;     // steps of a period in which the rate grows
  double low = 0.1;           // the lowest factor
  SINTER_FIELDS((period).at_least(2).adjustable(), (rise).at_least(1).adjustable(),
                (low).at_least(0).at_most(1).adjustable())
};

/// A rate that rises and falls linearly, period after period (Smith 2017).
template <TriangularOptions O = {}>
struct Triangular {
  using slot = slot::schedule;
  using Options = TriangularOptions;
  static constexpr Options options = O;

  // Called when the recipe compiles, and again when flags have changed options. Each text has at
  // most 33 characters.
  static constexpr Contradiction contradiction(const Options& o) {
    if (o.rise < o.period) return {};
    return {"the rise is no part of the period", "make rise less than period"};
  }

  // The factor of the optimizer's rate at a step, counted from 1. It depends only on the step, so a
  // resumed run continues as if it had never stopped.
  static constexpr double factor(const Options& o, std::int64_t step) {
    const std::int64_t at = (step - 1) % o.period;
    const double up = at < o.rise ? double(at) / double(o.rise)
                                  : double(o.period - at) / double(o.period - o.rise);
    return o.low + (1 - o.low) * up;
  }
};

// The factor is constexpr, so it can be asserted.
using Ten = Triangular<{.period = 10, .rise = 4, .low = 0}>;
static_assert(Ten::factor(Ten::options, 1) == 0 && Ten::factor(Ten::options, 5) == 1);
static_assert(Ten::factor(Ten::options, 8) == 0.5 && Ten::factor(Ten::options, 15) == 1);

}  // namespace acme

struct waves : sinter::Recipe<sinter::Mlp<{.in = 1, .hidden = 16, .out = 1}>,
                              sinter::Sgd<{.lr = 2e-2, .momentum = 0.9}>,
                              acme::Triangular<{.period = 20, .rise = 10}>,
                              sinter::Batch<{.global = 8, .micro = 8}>> {};

int main() {
  sinter::HostBatch batch;
  batch.values = {{0, .1, .2, .3, .4, .5, .6, .7}, {1, 2, 3, 4, 5, 6, 7, 8}};
  batch.starts = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  sinter::Trainer<waves> trainer;
  double lowest = 1, highest = 0, loss = 0;
  for (int step = 0; step < 200; ++step) {
    const auto applied = std::get<sinter::Applied>(trainer.step(batch));
    lowest = std::min(lowest, applied.learning_rate);
    highest = std::max(highest, applied.learning_rate);
    loss = applied.loss.mean();
  }
  std::printf("rates from %.4f to %.4f, loss %.4f\n", lowest, highest, loss);
  const bool rates = std::abs(lowest - 2e-3) < 1e-12 && std::abs(highest - 2e-2) < 1e-12;
  return rates && loss < 0.5 ? 0 : 1;
}

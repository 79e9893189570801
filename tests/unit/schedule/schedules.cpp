// SPDX-License-Identifier: Apache-2.0
// Schedules against the formulas of transformers 5 and PyTorch. There, `current` counts the steps
// that are done, and a warm-up begins with a rate of zero; here its step s has s / warmup.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "sinter/policy/options.hpp"
#include "sinter/recipe/all_policies.hpp"

namespace sinter::detail::testing {
namespace {

constexpr double pi = 3.14159265358979323846;

/// Compares a schedule with `reference(current)` after its warm-up, and with s / warmup in it.
template <class S>
void compare(const typename S::Options& options, std::int64_t last, const auto& reference) {
  for (std::int64_t step = 1; step <= last; ++step) {
    CAPTURE(step);
    const double want =
        step <= options.warmup ? double(step) / double(options.warmup) : reference(step - 1);
    REQUIRE(std::abs(S::factor(options, step) - want) <= 1e-12);
  }
}

TEST_CASE("PolynomialDecay is get_polynomial_decay_schedule_with_warmup") {
  const double lr_init = .02, lr_end = .001;
  for (std::int64_t warmup : {0, 1, 25})
    for (double power : {.5, 1., 2., 3.7}) {
      const PolynomialDecayOptions o{
          .warmup = warmup, .steps = 200, .power = power, .floor = lr_end / lr_init};
      compare<PolynomialDecay<>>(o, 300, [&](std::int64_t current) {
        if (current > o.steps) return lr_end / lr_init;
        const double decay_steps = double(o.steps - warmup);
        const double remaining = 1 - double(current - warmup) / decay_steps;
        return ((lr_init - lr_end) * std::pow(remaining, power) + lr_end) / lr_init;
      });
    }
  const PolynomialDecayOptions line{.warmup = 7, .steps = 50};
  for (int step = 1; step < 60; ++step)
    CHECK(PolynomialDecay<>::factor(line, step) ==
          doctest::Approx(LinearDecay<>::factor({.warmup = 7, .steps = 50}, step)));
}

TEST_CASE("InverseSqrt is get_inverse_sqrt_schedule") {
  for (std::int64_t warmup : {0, 1, 25})
    for (std::int64_t timescale : {0, 1, 60}) {
      const InverseSqrtOptions o{.warmup = warmup, .timescale = timescale};
      compare<InverseSqrt<>>(o, 300, [&](std::int64_t current) {
        const std::int64_t scale = timescale ? timescale : warmup ? warmup : 10000;
        return 1 / std::sqrt(double(current + scale - warmup) / double(scale));
      });
    }
  CHECK(InverseSqrt<>::factor({.warmup = 100}, 401) == .5);
}

TEST_CASE("WarmupStableDecay is get_wsd_schedule") {
  for (DecayShape shape : {DecayShape::linear, DecayShape::cosine, DecayShape::one_minus_sqrt})
    for (std::int64_t warmup : {0, 1, 25})
      for (std::int64_t decay : {0, 1, 60, 175}) {
        const WarmupStableDecayOptions o{
            .warmup = warmup, .steps = 200, .decay = decay, .floor = .1, .shape = shape};
        const std::int64_t stable = o.steps - warmup - decay;
        compare<WarmupStableDecay<>>(o, 300, [&](std::int64_t current) {
          if (current < warmup + stable) return 1.;
          if (current >= o.steps) return .1;
          const double progress = double(current - warmup - stable) / double(decay);
          const double factor = shape == DecayShape::linear   ? 1 - progress
                                : shape == DecayShape::cosine ? .5 * (1 + std::cos(pi * progress))
                                                              : 1 - std::sqrt(progress);
          return factor * (1 - .1) + .1;
        });
      }
  CHECK(name_of(DecayShape::one_minus_sqrt) == "one_minus_sqrt");
}

TEST_CASE("CosineRestarts is CosineAnnealingWarmRestarts") {
  for (std::int64_t warmup : {0, 1, 25})
    for (std::int64_t cycle : {1, 10, 17})
      for (int growth : {1, 2, 3, 10}) {
        const CosineRestartsOptions o{
            .warmup = warmup, .cycle = cycle, .growth = double(growth), .floor = .05};
        std::int64_t at = 0, length = cycle;  // T_cur and T_i of the PyTorch class
        compare<CosineRestarts<>>(o, 20000, [&](std::int64_t) {
          const double factor = .05 + .95 * (1 + std::cos(pi * double(at) / double(length))) / 2;
          if (++at >= length) at -= length, length *= growth;
          return factor;
        });
      }
}

TEST_CASE("CosineRestarts whose cycles grow by a fraction") {
  const CosineRestartsOptions o{.warmup = 3, .cycle = 8, .growth = 1.5};
  double start = 0, length = 8;
  compare<CosineRestarts<>>(o, 5000, [&](std::int64_t current) {
    const double done = double(current - 3);
    while (start + length <= done) start += length, length *= 1.5;
    return (1 + std::cos(pi * (done - start) / length)) / 2;
  });
}

constexpr std::int64_t numbers[] = {0, 1, 2, 7, 1000, std::int64_t(1) << 40};

template <class S>
bool is_allowed(const typename S::Options& options) {
  bool allowed = true;
  for_each_field(options, [&]<class Value>(const Field& field, const Value& value) {
    if constexpr (is_number<Value>) allowed = allowed && field.range.holds(double(value));
  });
  return allowed && !hook::contradiction<S>(options);
}

/// Whatever the options, where they are allowed, a factor is a finite number that is not negative.
/// Returns whether they are. Where the horizon is the run's length, the run has 500 steps.
template <class S>
bool stays_sane(const typename S::Options& given) {
  if (!is_allowed<S>(given)) return false;
  const auto options = hook::in_run<S>(given, 500);
  const double highest = options.warmup < (1 << 20) ? 1e-30 : 0;
  double most = 0;
  bool sane = true;
  for (std::int64_t step = 1; step <= 1000000; step += step < 3000 ? 1 : 997) {
    const double factor = S::factor(options, step);
    sane = sane && factor >= 0 && factor <= 1 + 1e-12;
    most = std::max(most, factor);
  }
  CHECK(sane);
  CHECK(most > highest);
  return true;
}

TEST_CASE("every factor is finite and not negative, whatever the options") {
  int allowed = 0, refused = 0;
  auto count = [&](bool is) { ++(is ? allowed : refused); };
  for (std::int64_t warmup : numbers)
    for (std::int64_t other : numbers) {
      CAPTURE(warmup);
      CAPTURE(other);
      count(stays_sane<LinearDecay<>>({.warmup = warmup, .steps = other}));
      count(stays_sane<CosineDecay<>>({.warmup = warmup, .steps = other, .floor = .1}));
      count(stays_sane<InverseSqrt<>>({.warmup = warmup, .timescale = other}));
      for (double power : {0., .5, 1., 40.})
        count(stays_sane<PolynomialDecay<>>(
            {.warmup = warmup, .steps = other, .power = power, .floor = .01}));
      for (double growth : {0., 1., 1.0001, 2., 1e9})
        count(stays_sane<CosineRestarts<>>({.warmup = warmup, .cycle = other, .growth = growth}));
      for (DecayShape shape : {DecayShape::linear, DecayShape::cosine, DecayShape::one_minus_sqrt})
        for (std::int64_t decay : numbers)
          count(stays_sane<WarmupStableDecay<>>(
              {.warmup = warmup, .steps = other, .decay = decay, .floor = .1, .shape = shape}));
    }
  CHECK(allowed > 300);
  CHECK(refused > 300);
}

/// Checks a schedule with its own options, but for the steps of its warm-up, in which the factor rises.
template <class S>
void check_defaults() {
  if constexpr (requires { S::options.warmup + S::factor(S::options, 1); }) {
    for (std::int64_t warmup : {0, 1, 7, 100}) {
      CAPTURE(warmup);
      auto options = hook::in_run<S>(S::options, 1000);
      options.warmup = warmup;
      REQUIRE(stays_sane<S>(options));
      for (std::int64_t step = 1; step <= warmup; ++step)
        CHECK(S::factor(options, step) == doctest::Approx(double(step) / double(warmup)));
      CHECK(S::factor(options, warmup + 1) == doctest::Approx(1));
    }
  }
}

TEST_CASE("each schedule with its default options rises in the warm-up and stays sane") {
  for_each_policy(shipped::schedule(), []<class S>(S*) { check_defaults<S>(); });
}

TEST_CASE("every step up to a million") {
  for (std::int64_t step = 1; step <= 1000000; ++step) {
    const double factors[] = {
        LinearDecay<>::factor({.warmup = 0, .steps = 900000}, step),
        CosineDecay<>::factor({.warmup = 100, .steps = 900000}, step),
        PolynomialDecay<>::factor({.warmup = 500, .steps = 1000, .power = 2}, step),
        InverseSqrt<>::factor({.warmup = 2000000}, step),
        CosineRestarts<>::factor({.warmup = 10, .cycle = 3, .growth = 1.7}, step),
        WarmupStableDecay<>::factor({.warmup = 5, .steps = 900000, .decay = 4000}, step)};
    for (double factor : factors) {
      const bool sane = factor >= 0 && factor <= 1;
      REQUIRE(sane);
    }
  }
}

}  // namespace
}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
// What follows from the norm and the loss of a step.
#include "sinter/kernels/decision.hpp"

#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Decision;

namespace {

Decision decided(double norm, const kernel::ClippingRule& rule, double loss_scale = 1,
                 double loss = 3) {
  kernel::Stream stream(1);
  Decision decision{.loss = loss, .scale = 7, .limit = 7, .applied = 7};
  kernel::add_squares(stream, &norm, 1, &decision.squares);
  kernel::decide(stream, rule, loss_scale, &decision);
  return decision;
}

}  // namespace

TEST_CASE("clipping scales as clip_grad_norm_ does") {
  CHECK(decided(0, {.bound = 2}).scale == 1);
  CHECK(decided(1.9, {.bound = 2}).scale == 1);
  CHECK(decided(8, {.bound = 2}).scale == doctest::Approx(2 / (8 + 1e-6)).epsilon(1e-15));
  CHECK(decided(2, {.bound = 2}).scale == doctest::Approx(2 / (2 + 1e-6)).epsilon(1e-15));
  CHECK(decided(1e30, {}).scale == 1);
  CHECK(decided(8, {.bound = 2}).limit == INFINITY);
  CHECK(decided(8, {.limit = 2}).limit == 2);
  CHECK(decided(8, {.limit = 2}).scale == 1);
}

TEST_CASE("a loss scale is taken back, and what is not finite is not applied") {
  const Decision scaled = decided(8 * 1024, {.bound = 2}, 1024);
  CHECK(scaled.norm == 8);
  CHECK(scaled.scale == doctest::Approx(2 / (8 + 1e-6) / 1024).epsilon(1e-15));
  CHECK(scaled.applied == 1);
  CHECK(decided(INFINITY, {.bound = 2}).applied == 0);
  CHECK(decided(NAN, {.bound = 2}).applied == 0);
  CHECK(decided(1, {.bound = 2}, 1, INFINITY).applied == 0);
  CHECK(decided(1, {.bound = 2}, 1, NAN).applied == 0);
}

TEST_CASE("a step above a bound is refused, and one that is not finite stays so") {
  kernel::Stream stream(1);
  auto applied = [&](const kernel::StepBounds& bounds, std::int32_t before = 1) {
    Decision decision{.loss = 6, .norm = 4, .applied = before};
    kernel::refuse_above(stream, bounds, 0.5, &decision);
    return decision.applied;
  };
  CHECK(applied({}) == 1);
  CHECK(applied({.loss = 3, .norm = 4}) == 1);
  CHECK(applied({.loss = 2.9}) == 0);
  CHECK(applied({.norm = 3.9}) == 0);
  CHECK(applied({}, 0) == 0);
}

TEST_CASE("gradients are multiplied by the decision's scale") {
  kernel::Stream stream(1);
  const Decision decision{.scale = 0.25};
  const std::vector<float> g{1, -8};
  std::vector<float> y(2);
  kernel::scale_gradient(stream, g.data(), 0.5, &decision, y.data(), 2);
  CHECK(y == std::vector<float>{0.125f, -1});
}

TEST_CASE("work hangs on a condition in memory") {
  kernel::Stream stream(2);
  std::int32_t condition = 0;
  int runs = 0;
  stream.only_if(&condition, [&] { ++runs; });
  CHECK(runs == 0);
  condition = 1;
  stream.only_if(&condition, [&] { ++runs; });
  CHECK(runs == 1);
}

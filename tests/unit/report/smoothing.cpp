// SPDX-License-Identifier: Apache-2.0
#include "report/smoothing.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace sinter::detail::testing::smoothing_tests {
using namespace sinter::detail::report;

constexpr Limits all{-1e300, 1e300};

std::vector<Point> line(int count) {
  std::vector<Point> points;
  for (int k = 1; k <= count; ++k) points.push_back({double(k), double(k)});
  return points;
}

TEST_CASE("the moving average is TensorBoard's, with its bias corrected") {
  // 1, 2, 3, 4 with 0.6: last = 0.6 last + 0.4 y, shown as last / (1 - 0.6 to the power of n).
  const auto points = smoothed(means_of(line(4), 100, all), 0.6);
  const double expected[]{1, 1.04 / 0.64, 1.824 / 0.784, 2.6944 / 0.8704};
  REQUIRE(points.size() == 4);
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(points[k].x == double(k + 1));
    CHECK(points[k].y == doctest::Approx(expected[k]));
  }
  const auto same = smoothed(means_of(line(4), 100, all), 0);
  for (std::size_t k = 0; k < 4; ++k) CHECK(same[k].y == double(k + 1));
}

TEST_CASE("a mean of several values counts as that many") {
  std::vector<Point> steps;  // a constant on each interval, so that its mean loses nothing
  for (int k = 0; k < 100; ++k) steps.push_back({double(k), double(k / 10)});
  const auto few = smoothed(means_of(steps, 10, all), 0.95),
             each = smoothed(means_of(steps, 100, all), 0.95);
  REQUIRE(few.size() == 10);
  for (std::size_t k = 0; k < 10; ++k) {
    CHECK(few[k].x == each[10 * k + 9].x);
    CHECK(few[k].y == doctest::Approx(each[10 * k + 9].y));
  }
}

TEST_CASE("a spike does not lead the average beyond the range") {
  std::vector<Point> points(100, Point{0, 1});
  points[50].y = 1e12;
  for (const Point& p : smoothed(means_of(points, 10, {0, 2}), 0.9)) CHECK(p.y <= 1.2);
}

TEST_CASE("the usual weight grows with the number of values, from none") {
  CHECK(usual_weight(0) == 0);
  CHECK(usual_weight(50) == 0);
  CHECK(usual_weight(500) == doctest::Approx(0.9));
  CHECK(usual_weight(1'000'000'000) == 0.999);
}

}  // namespace sinter::detail::testing::smoothing_tests

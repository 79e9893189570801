// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/norm.hpp"

#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::testing;
using kernel::Stream;

TEST_CASE_TEMPLATE("sums in double, the same for every number of threads", T, float, double) {
  on_every_instruction_set([] {
    for (std::int64_t n : {0, 1, 3, 17, 4096, 4097, 100000, 3000001}) {
      CAPTURE(n);
      const auto x = normal_values<T>(n, 1);
      long double squares = 0, total = 0, size = 0;
      for (T v : x) squares += (long double)v * v, total += v, size += std::abs(v);
      auto got = same_on_all_threads(
          [&](Stream& s) { return std::vector<double>{sum_of_squares(s, x), sum(s, x)}; });
      CHECK(share_of_bound<double>(got, {squares, total}, {squares, size}, 16) <= 1);
      std::vector<T> sizes(x);
      for (T& v : sizes) v = std::abs(v);  // the worst for sums
      got = same_on_all_threads([&](Stream& s) { return std::vector<double>{sum(s, sizes)}; });
      CHECK(share_of_bound<double>(got, {size}, {size}, 16) <= 1);
    }
  });
}

TEST_CASE_TEMPLATE("no overflow in float, and what is not finite shows", T, float, double) {
  Stream stream(2);
  std::vector<T> x(100001, T(1e25));
  CHECK(sum_of_squares(stream, x) == doctest::Approx(1.00001e55));
  for (int at : {0, 50000, 100000}) {
    auto y = x;
    y[at] = T(INFINITY);
    CHECK(sum_of_squares(stream, y) == INFINITY);
    CHECK(sum(stream, y) == INFINITY);
    y[at] = T(NAN);
    CHECK(std::isnan(sum_of_squares(stream, y)));
    CHECK(std::isnan(sum(stream, y)));
  }
}

TEST_CASE_TEMPLATE("sums may be added to what is there, and vectors scaled to a norm of one", T,
                   float, double) {
  Stream stream(2);
  const std::vector<T> x{3, -4};
  double sum = 10, squares = 100;
  kernel::sum(stream, x.data(), 2, &sum, true);
  kernel::sum_of_squares(stream, x.data(), 2, &squares, true);
  CHECK(sum == 9);
  CHECK(squares == 125);
  auto y = x;
  kernel::scale_to_unit_norm(stream, y.data(), 2, 1e-7);
  CHECK(y == std::vector<T>{T(3) * T(1 / 5.), T(-4) * T(1 / 5.)});
  y = x;
  kernel::scale_to_unit_norm(stream, y.data(), 2, 10);
  CHECK(y == std::vector<T>{T(3) * T(.1), T(-4) * T(.1)});
}

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
      auto got = same_on_all_threads([&](Stream& s) {
        return std::vector<double>{kernel::sum_of_squares(s, x.data(), n),
                                   kernel::sum(s, x.data(), n)};
      });
      CHECK(share_of_bound<double>(got, {squares, total}, {squares, size}, 16) <= 1);
      std::vector<T> sizes(x);
      for (T& v : sizes) v = std::abs(v);  // the worst for sums
      got = same_on_all_threads(
          [&](Stream& s) { return std::vector<double>{kernel::sum(s, sizes.data(), n)}; });
      CHECK(share_of_bound<double>(got, {size}, {size}, 16) <= 1);
    }
  });
}

TEST_CASE_TEMPLATE("no overflow in float, and what is not finite shows", T, float, double) {
  Stream stream(2);
  std::vector<T> x(100001, T(1e25));
  CHECK(kernel::sum_of_squares(stream, x.data(), 100001) == doctest::Approx(1.00001e55));
  for (int at : {0, 50000, 100000}) {
    auto y = x;
    y[at] = T(INFINITY);
    CHECK(kernel::sum_of_squares(stream, y.data(), 100001) == INFINITY);
    CHECK(kernel::sum(stream, y.data(), 100001) == INFINITY);
    y[at] = T(NAN);
    CHECK(std::isnan(kernel::sum_of_squares(stream, y.data(), 100001)));
    CHECK(std::isnan(kernel::sum(stream, y.data(), 100001)));
  }
}

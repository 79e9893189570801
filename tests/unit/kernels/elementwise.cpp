// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/elementwise.hpp"

#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Stream;

namespace {
constexpr std::int64_t sizes[] = {0, 1, 3, 17, 64, 1000, 70001};
}

TEST_CASE_TEMPLATE("functions of flat arrays follow their definitions", T, float, double) {
  on_every_instruction_set([] {
    for (auto n : sizes) {
      CAPTURE(n);
      auto a = normal_values<T>(n, 1), b = normal_values<T>(n, 2);
      auto expect = [&](auto compute, auto want) {
        auto got = same_on_all_threads(compute);
        std::vector<T> wanted(n);
        for (std::int64_t i = 0; i < n; ++i) wanted[i] = want(i);
        CHECK(same_bits(got, wanted));
      };
      auto once = [&](auto compute, auto exact) {  // rounded once
        auto got = same_on_all_threads(compute);
        std::vector<Wider<T>> wanted(n);
        for (std::int64_t i = 0; i < n; ++i) wanted[i] = exact(Wider<T>(a[i]), Wider<T>(b[i]));
        CHECK(share_of_bound(got, wanted, wanted, 0.5) <= 1);
      };
      std::vector<T> y(n);
      expect([&](Stream& s) { return kernel::fill(s, y.data(), T(3), n), y; },
             [](auto) { return T(3); });
      expect([&](Stream& s) { return kernel::copy(s, a.data(), y.data(), n), y; },
             [&](auto i) { return a[i]; });
      once(
          [&](Stream& s) {
            return kernel::add(s, tensor(a, 1, n), tensor(b, 1, n), tensor(y, 1, n)), y;
          },
          [](auto p, auto q) { return p + q; });
      once([&](Stream& s) { return kernel::scale(s, a.data(), T(0.3), y.data(), n), y; },
           [](auto p, auto) { return p * T(0.3); });
      once([&](Stream& s) { return kernel::scale(s, tensor(a, 1, n), T(0.3), tensor(y, 1, n)), y; },
           [](auto p, auto) { return p * T(0.3); });
      auto added = same_on_all_threads([&](Stream& s) {
        y = b;
        return kernel::scale(s, tensor(a, 1, n), T(0.3), tensor(y, 1, n, true)), y;
      });
      std::vector<Wider<T>> sums(n), sizes_of_both(n);
      for (std::int64_t i = 0; i < n; ++i) {
        const Wider<T> product = Wider<T>(a[i]) * T(0.3);
        sums[i] = b[i] + product;
        sizes_of_both[i] = std::abs(sums[i]) + std::abs(product);
      }
      CHECK(share_of_bound(added, sums, sizes_of_both, 0.5) <= 1);
      once(
          [&](Stream& s) {
            y = b;
            return kernel::accumulate(s, a.data(), y.data(), n), y;
          },
          [](auto p, auto q) { return p + q; });
      once(
          [&](Stream& s) {
            y = b;
            return kernel::add(s, tensor(a, 1, n), tensor(y, 1, n), tensor(y, 1, n)),
                   y;  // in place
          },
          [](auto p, auto q) { return p + q; });
    }
  });
}

TEST_CASE("cast rounds to nearest, either way") {
  auto doubles = normal_values<double>(70001, 1);
  std::vector<float> floats(70001);
  std::vector<double> back(70001);
  Stream stream(2);
  kernel::cast(stream, doubles.data(), floats.data(), 70001);
  kernel::cast(stream, floats.data(), back.data(), 70001);
  for (int i = 0; i < 70001; ++i) {
    REQUIRE(floats[i] == float(doubles[i]));
    REQUIRE(back[i] == double(floats[i]));
  }
}

TEST_CASE_TEMPLATE("column_sum follows its definition", T, float, double) {
  on_every_instruction_set([] {
    for (int rows : {0, 1, 3, 17, 64, 65, 1000})
      for (int columns : {1, 3, 17, 48, 130})
        for (bool add : {false, true}) {
          CAPTURE(rows);
          CAPTURE(columns);
          CAPTURE(add);
          for (bool positive : {false, true}) {
            CAPTURE(positive);  // the worst for sums
            auto x = normal_values<T>(rows * columns, 1), before = normal_values<T>(columns, 2);
            if (positive)
              for (T& v : x) v = std::abs(v);
            auto got = same_on_all_threads([&](Stream& s) {
              auto sum = before;
              return kernel::column_sum(s, tensor(x, rows, columns), tensor(sum, 1, columns, add)),
                     sum;
            });
            std::vector<Wider<T>> want(columns), size(columns);
            for (int i = 0; i < rows * columns; ++i)
              want[i % columns] += x[i], size[i % columns] += std::abs(x[i]);
            CHECK(share_of_bound(got, want, size, 1 + std::sqrt(rows) / 2,
                                 add ? Added<T>{&before} : Added<T>{}) <= 1);
          }
        }
  });
}

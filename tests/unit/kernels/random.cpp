// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/random.hpp"

#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Stream;

namespace {

template <class T>
std::vector<T> normals(std::int64_t n, std::uint64_t key, double mean = 0, double deviation = 1) {
  std::vector<T> values(n);
  kernel::fill_normal(values.data(), n, mean, deviation, key);
  return values;
}

}  // namespace

TEST_CASE("a value depends on key and index alone") {
  const auto all = normals<double>(200001, 7);
  on_every_instruction_set([&] {
    for (std::int64_t n : {0, 1, 2, 3, 17, 1000, 65537, 200001}) {
      CAPTURE(n);
      const auto some = normals<double>(n, 7);
      CHECK(error_of(some, {all.begin(), all.begin() + n}) <= 16);
      const auto spread = same_on_all_threads([&](Stream& s) {
        std::vector<double> values(n);
        kernel::fill_normal(s, values.data(), n, 0, 1, 7);
        return values;
      });
      CHECK(same_bits(spread, some));
    }
  });
}

TEST_CASE("floats are the doubles, rounded") {
  const auto doubles = normals<double>(100001, 3, 0.5, 0.02);
  const auto floats = normals<float>(100001, 3, 0.5, 0.02);
  for (int i = 0; i < 100001; ++i) REQUIRE(floats[i] == float(doubles[i]));
}

TEST_CASE("the distribution is normal") {
  const int n = 4'000'000;
  const auto x = normals<double>(n, 42);
  double moments[5] = {};
  for (double v : x)
    for (int power = 1; power <= 4; ++power) moments[power] += std::pow(v, power) / n;
  CHECK(std::abs(moments[1]) < 5 * std::sqrt(1.0 / n));
  CHECK(std::abs(moments[2] - 1) < 5 * std::sqrt(2.0 / n));
  CHECK(std::abs(moments[3]) < 5 * std::sqrt(15.0 / n));
  CHECK(std::abs(moments[4] - 3) < 5 * std::sqrt(96.0 / n));
  // The share below each of 41 bounds (Kolmogorov and Smirnov's distance, at 1e-6).
  for (double bound = -4; bound <= 4; bound += 0.2) {
    double below = 0;
    for (double v : x) below += v < bound;
    CHECK(std::abs(below / n - std::erfc(-bound / std::sqrt(2.0)) / 2) < 2.7 / std::sqrt(n));
  }
  CHECK(*std::max_element(x.begin(), x.end()) > 4.5);
  CHECK(*std::max_element(x.begin(), x.end()) < 6.8);
}

TEST_CASE("neighbours, pairs, blocks and keys are not correlated") {
  const int n = 1 << 20;
  const auto x = normals<double>(n, 5), other = normals<double>(n, 6);
  auto correlation = [&](const std::vector<double>& a, const std::vector<double>& b, int shift,
                         int power) {
    double sum = 0;
    auto centred = [&](double v) { return power == 1 ? v : (v * v - 1) / std::sqrt(2.0); };
    for (int i = 0; i + shift < n; ++i) sum += centred(a[i]) * centred(b[i + shift]);
    return std::abs(sum / std::sqrt(double(n - shift)));
  };
  for (int power : {1, 2}) {
    for (int shift : {1, 2, 3, 16, 65536}) CHECK(correlation(x, x, shift, power) < 5);
    for (int shift : {0, 1}) CHECK(correlation(x, other, shift, power) < 5);
  }
}

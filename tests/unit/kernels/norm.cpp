// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/norm.hpp"

#include <set>
#include <span>

#include "kernels/elements.hpp"
#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Stream;

TEST_CASE_TEMPLATE("norms are summed in double, the same for every number of threads", T, float,
                   double) {
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

TEST_CASE_TEMPLATE("norms do not overflow in float, and numbers that are not finite show", T, float,
                   double) {
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

// ---- sums of squares that do not depend on an order

namespace {

template <class T>
kernel::BinnedSum binned(Stream& stream, std::span<const T> x) {
  kernel::BinnedSum sum;
  kernel::add_squares(stream, x.data(), std::int64_t(x.size()), &sum);
  return sum;
}
/// Adds as ranks do.
kernel::BinnedSum operator+(kernel::BinnedSum a, const kernel::BinnedSum& b) {
  for (int k = 0; k < kernel::BinnedSum::count; ++k) a.bins[k] += b.bins[k];
  return a;
}
/// Normal values of many magnitudes.
template <class T>
std::vector<T> wide_values(int n) {
  auto x = normal_values<double>(n, 3);
  const auto sizes = normal_values<double>(n, 4);
  const double spread = std::is_same_v<T, sinter::Float16> ? 2 : 8;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] *= std::exp2(std::round(spread * sizes[i]));
  return {x.begin(), x.end()};
}
/// Σ x² by integers: each group of 16 as the contract says, then bit by bit.
template <class T>
double exact_sum(const std::vector<T>& x) {
  std::vector<double> parts;
  for (std::size_t g = 0; g < x.size(); g += 16) {
    double sums[16] = {};
    for (std::size_t i = g; i < std::min(g + 16, x.size()); ++i) sums[i - g] = double(x[i]);
    for (int i = 0; i < 8; ++i) sums[i] = std::fma(sums[i + 8], sums[i + 8], sums[i] * sums[i]);
    for (int half : {4, 2, 1})
      for (int i = 0; i < half; ++i) sums[i] += sums[i + half];
    parts.push_back(sums[0]);
  }
  long double total = 0, lost = 0;  // Neumaier's sum, of 64 + 64 bits
  for (const double part : parts) {
    const long double next = total + part;
    lost += std::abs(total) >= part ? (total - next) + part : (part - next) + total;
    total = next;
  }
  return double(total + lost);
}

}  // namespace

TEST_CASE_TEMPLATE("squares have the same sum in any order and any parts", T, float, double,
                   sinter::BFloat16, sinter::Float16) {
  Stream stream(2);
  for (const int n : {1, 15, 16, 17, 4096, 5000, 300000}) {
    CAPTURE(n);
    const std::vector<T> x = wide_values<T>(n);
    const std::span<const T> all(x);
    const double sum = binned(stream, all).value();
    CHECK(std::abs(sum - exact_sum(x)) <= 0x1p-52 * sum);
    for (const int cut : {16, 4096, 4112, 100000}) {
      if (cut >= n) continue;
      const auto first = binned(stream, all.first(std::size_t(cut)));
      const auto rest = binned(stream, all.subspan(std::size_t(cut)));
      CHECK((first + rest).value() == sum);
      CHECK((rest + first).value() == sum);
    }
    std::vector<T> longer(x);
    longer.resize(x.size() + 9000);
    CHECK(binned(stream, std::span<const T>(longer)).value() == sum);
  }
}

TEST_CASE_TEMPLATE("the sum of squares is the same on every instruction set", T, float,
                   sinter::BFloat16, sinter::Float16) {
  const std::vector<T> x = wide_values<T>(70001);
  std::set<double> sums;
  on_every_instruction_set([&] {
    const auto got = same_on_all_threads(
        [&](Stream& s) { return std::vector<double>{binned(s, std::span<const T>(x)).value()}; });
    sums.insert(got[0]);
  });
  CHECK(sums.size() == 1);  // squares of these are exact in double, so no fused product differs
}

TEST_CASE("the sum of squares is rounded once: powers of two, ties, and tiny remainders") {
  const auto sum_of = [](std::initializer_list<double> values) {
    Stream stream(1);
    kernel::BinnedSum sum;
    for (const double value : values) add_squares(stream, &value, 1, &sum);
    return sum.value();
  };
  CHECK(sum_of({}) == 0);
  CHECK(sum_of({0x1p-160}) == 0x1p-320);
  CHECK(sum_of({0x1p159, 0x1p-160}) == 0x1p318);
  CHECK(sum_of({INFINITY}) == INFINITY);
  CHECK(std::isnan(sum_of({NAN})));
  for (int shift = -40; shift <= 40; ++shift) {
    const double unit = std::ldexp(1, shift);
    CAPTURE(shift);
    CHECK(sum_of({3 * unit, 4 * unit}) == 25 * unit * unit);
    // 1 + 2^-54 is a tie at half a place and less; with 2^-300 behind 1 + 2^-53 it is above the tie.
    CHECK(sum_of({unit, unit * 0x1p-27}) == unit * unit);
    CHECK(sum_of({unit, unit * 0x1p-27, unit * 0x1p-27}) == unit * unit);
    CHECK(sum_of({unit, unit * 0x1p-27, unit * 0x1p-27, unit * 0x1p-100}) ==
          std::nextafter(1, 2) * unit * unit);
  }
}

TEST_CASE_TEMPLATE("summed squares may be tiny, huge, or not finite", T, float, double) {
  Stream stream(2);
  const auto squares = [&](std::vector<T> x) {
    return binned(stream, std::span<const T>(x)).value();
  };
  CHECK(squares({}) == 0);
  CHECK(squares({T(3), T(-4)}) == 25);
  CHECK(squares({T(0x1p-149)}) == 0x1p-298);
  CHECK(squares({T(0x1p127), T(0x1p-149)}) == 0x1p254);
  std::vector<T> x(100001, T(1e25));
  CHECK(squares(x) == doctest::Approx(1.00001e55));
  for (const int at : {0, 50000, 100000}) {
    auto y = x;
    y[std::size_t(at)] = T(INFINITY);
    CHECK(squares(y) == INFINITY);
    y[std::size_t(at)] = T(NAN);
    CHECK(std::isnan(squares(y)));
  }
}

TEST_CASE("squares of doubles beyond the bins") {
  Stream stream(1);
  const auto square = [&](double x) {
    return binned(stream, std::span<const double>(&x, 1)).value();
  };
  CHECK(square(0x1p159) == 0x1p318);
  CHECK(square(0x1p160) == INFINITY);
  CHECK(square(1e200) == INFINITY);
  CHECK(square(0x1p-160) == 0x1p-320);
  CHECK(square(0x1p-162) == 0);
}

// SPDX-License-Identifier: Apache-2.0
// Matrices in blocks of int8: what is stored, and products with it, against their definitions.
#include "sinter/kernels/int8.hpp"

#include <array>

#include "kernels/cpu/int8.hpp"
#include "support/sanitized.hpp"
#include "unit/kernels/support.hpp"

namespace sinter::detail::testing {
namespace {

using Floats = std::vector<float>;
using kernel::Input;
using kernel::Int8Matrix;

/// A matrix of random numbers, some of them far from the others, and its int8.
struct Stored {
  int rows, columns, group;
  Floats values = normal_values<float>(std::int64_t(rows) * columns, 1, .02);
  std::vector<std::byte> bytes{std::size_t(kernel::int8_bytes(rows, columns, group)),
                               std::byte(99)};

  Stored(int r, int c, int g) : rows(r), columns(c), group(g) {
    for (std::size_t k = 0; k < values.size(); k += 37) values[k] *= 20;
    kernel::pack_int8_rows(values.data(), 0, rows, matrix());
  }
  Int8Matrix<std::byte> matrix() { return {bytes.data(), rows, columns, group}; }
  Int8Matrix<const std::byte> read() { return matrix(); }
  Floats unpacked() {
    Floats all(values.size());
    kernel::unpack_int8_rows(read(), 0, rows, all.data());
    return all;
  }
};

double magnitude(const auto* x, int n) {
  double most = 0;
  for (int k = 0; k < n; ++k) most = std::max(most, std::abs(double(x[k])));
  return most;
}

TEST_CASE("int8 is within half a scale of each number") {
  for (const auto& [rows, columns, group] :
       {std::array{16, 64, 32}, std::array{37, 96, 32}, std::array{1, 256, 128}}) {
    CAPTURE(rows);
    Stored stored(rows, columns, group);
    const Floats got = stored.unpacked();
    for (std::size_t k = 0; k < got.size(); ++k) {
      const std::size_t first = k / std::size_t(group) * std::size_t(group);
      const double scale = double(Float16(float(magnitude(&stored.values[first], group) / 127)));
      CHECK(std::abs(double(got[k]) - double(stored.values[k])) <=
            scale / 2 * (1 + 1e-6) + 127 * 0x1p-25);
    }
    SUBCASE("and what is stored is stored again as it is") {
      std::vector<std::byte> before = stored.bytes;
      kernel::pack_int8_rows(got.data(), 0, rows, stored.matrix());
      CHECK(before == stored.bytes);
    }
    SUBCASE("and the transpose gives the same bytes") {
      Floats turned(stored.values.size());
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < columns; ++c)
          turned[std::size_t(c * rows + r)] = stored.values[std::size_t(r * columns + c)];
      std::vector<std::byte> before(stored.bytes.size(), std::byte(7));
      before.swap(stored.bytes);
      for (int g = 0; g < columns / group; ++g)
        kernel::pack_int8_columns(turned.data() + std::int64_t(g) * group * rows, g,
                                  stored.matrix());
      CHECK(before == stored.bytes);
    }
  }
}

/// The mean squared error of numbers in int8, with a scale for each `group` of them.
double squared_error(const Floats& values, std::size_t group) {
  double sum = 0;
  for (std::size_t first = 0; first < values.size(); first += group) {
    const double scale = magnitude(&values[first], int(group)) / 127;
    for (std::size_t k = first; k < first + group; ++k)
      sum += std::pow(double(values[k]) - scale * std::round(double(values[k]) / scale), 2);
  }
  return sum / double(values.size());
}

// For small errors the divergence of what follows grows with the square of the logits' errors.
TEST_CASE("groups of 32 err less than a scale for each row, on heavy tails by a third or less") {
  constexpr int width = 768, rows = 64;
  std::mt19937 engine(3);
  std::normal_distribution<float> normal(0, .02f);
  std::student_t_distribution<float> student(4);
  for (const bool heavy : {false, true}) {
    CAPTURE(heavy);
    Stored stored(rows, width, 32);
    for (float& value : stored.values) value = heavy ? .02f * student(engine) : normal(engine);
    kernel::pack_int8_rows(stored.values.data(), 0, rows, stored.matrix());
    const Floats got = stored.unpacked();
    double error = 0;
    for (std::size_t k = 0; k < got.size(); ++k)
      error += std::pow(double(got[k]) - double(stored.values[k]), 2) / double(got.size());
    CHECK(error <= squared_error(stored.values, width) / (heavy ? 3 : 1));
    CHECK(error == doctest::Approx(squared_error(stored.values, 32)).epsilon(.01));
  }
}

TEST_CASE("a group with a number that int8 cannot show is NaN, and no other") {
  for (const float bad : {NAN, INFINITY, -INFINITY, 127 * 65600.f}) {
    CAPTURE(bad);
    Stored stored(2, 64, 32);
    stored.values[40] = bad;
    kernel::pack_int8_rows(stored.values.data(), 0, 2, stored.matrix());
    const Floats got = stored.unpacked();
    for (std::size_t k = 0; k < got.size(); ++k) CHECK(std::isnan(got[k]) == (k / 32 == 1));
  }
  Stored zeros(1, 32, 32);
  std::ranges::fill(zeros.values, 0.f);
  kernel::pack_int8_rows(zeros.values.data(), 0, 1, zeros.matrix());
  CHECK(zeros.unpacked() == zeros.values);
}

/// x with groups rounded as the product rounds them.
template <class T>
std::vector<double> rounded(const std::vector<T>& x, int group) {
  std::vector<double> result;
  for (std::size_t k = 0; k < x.size(); k += std::size_t(group)) {
    const float scale = float(magnitude(&x[k], group)) / 127;
    const float inverse = 1 / scale;
    for (int c = 0; c < group; ++c)
      result.push_back(double(scale) * std::round(float(x[k + std::size_t(c)]) * inverse));
  }
  return result;
}

/// Twice the error of rounding to T, relative to a number.
template <class T>
constexpr double rounding() {
  if (std::is_same_v<T, BFloat16>) return 0x1p-7;
  return std::is_same_v<T, Float16> ? 0x1p-10 : double(std::numeric_limits<T>::epsilon());
}

template <class T, class Y = T>
std::vector<Y> product(Stream& stream, const std::vector<T>& x, int n, Stored& w,
                       const std::vector<T>& bias) {
  std::vector<Y> y(std::size_t(n) * std::size_t(w.rows));
  std::vector<double> scratch(
      std::size_t(kernel::int8_scratch_bytes(n, w.columns, w.group)) / sizeof(double), NAN);
  kernel::int8_matmul<T>(stream, tensor(x, n, w.columns), w.read(),
                         bias.empty() ? Input<T>{} : Input<T>(tensor(bias, 1, w.rows)),
                         tensor(y, n, w.rows), reinterpret_cast<std::byte*>(scratch.data()));
  return y;
}

TEST_CASE_TEMPLATE("products with int8 keep the header's bound", T, float, double, BFloat16,
                   Float16) {
  on_every_instruction_set([] {
    for (const auto& [n, rows, columns, group] :
         {std::array{1, 37, 96, 32}, std::array{3, 16, 64, 32}, std::array{43, 50, 256, 128}})
      for (const bool biased : {false, true}) {
        CAPTURE(n);
        CAPTURE(biased);
        Stored w(rows, columns, group);
        const auto x = normal_values<T>(std::int64_t(n) * columns, 2);
        const auto bias = normal_values<T>(biased ? rows : 0, 3);
        const Floats weights = w.unpacked();
        const std::vector<double> factors = rounded(x, group);
        const std::vector<T> y =
            same_on_all_threads([&](Stream& stream) { return product(stream, x, n, w, bias); });
        double worst = 0;
        for (int r = 0; r < n; ++r)
          for (int j = 0; j < rows; ++j) {
            double want = 0, sizes = 0;
            for (int c = 0; c < columns; ++c) {
              const double term = factors[std::size_t(r * columns + c)] *
                                  double(weights[std::size_t(j * columns + c)]);
              want += term, sizes += std::abs(term);
            }
            double bound = (2 + columns / group) * epsilon<float>() * sizes;
            if (biased)
              want += double(bias[std::size_t(j)]), bound += epsilon<float>() * std::abs(want);
            bound += rounding<T>() * std::abs(want);
            const double error = std::abs(double(y[std::size_t(r * rows + j)]) - want);
            worst = std::max(worst, error / bound);
          }
        CHECK(worst <= 1);
      }
  });
}

TEST_CASE_TEMPLATE("products of narrow numbers may stay wide", T, BFloat16, Float16) {
  Stored w(37, 96, 32);
  const auto x = normal_values<T>(5 * w.columns, 2);
  const auto bias = normal_values<T>(w.rows, 3);
  Stream stream(2);
  const Floats wide = product<T, float>(stream, x, 5, w, bias);
  const std::vector<T> narrow = product<T>(stream, x, 5, w, bias);
  for (std::size_t k = 0; k < wide.size(); ++k) CHECK(float(T(wide[k])) == float(narrow[k]));
}

TEST_CASE("rows of a product with int8 are the same beside others, and in each instruction set") {
  Stored w(37, 96, 32);
  const int n = 19;
  const Floats x = normal_values<float>(n * w.columns, 2);
  Stream stream(1);
  const Floats all = product(stream, x, n, w, {});
  for (int r = 0; r < n; ++r) {
    const Floats one(x.begin() + r * w.columns, x.begin() + (r + 1) * w.columns);
    const Floats y = product(stream, one, 1, w, {});
    CHECK(std::equal(y.begin(), y.end(), all.begin() + r * w.rows));
  }
  on_every_instruction_set([&] {
    // Sanitized kernels are not compiled for AVX2, and the baseline rounds products.
    const std::int64_t fusing = HWY_AVX3 | HWY_NEON | (is_sanitized ? 0 : HWY_AVX2);
    const bool fused = (hwy::SupportedTargets() & fusing) != 0;
    if (fused) CHECK(same_bits(product(stream, x, n, w, {}), all));
  });
}

TEST_CASE("the instruction for int8 gives the same bits") {
  if (!kernel::has_int8_dot()) {
    MESSAGE("this processor has no such instruction");
    return;
  }
  Stored w(16, 128, 32);
  const int n = 15, groups = w.columns / w.group;
  std::vector<std::int8_t> values;
  for (int k = 0; k < n * w.columns; ++k) values.push_back(std::int8_t(k * 37 % 255 - 127));
  std::vector<std::int32_t> offsets;
  for (int k = 0; k < n * groups; ++k) {
    int sum = 0;
    for (int c = 0; c < w.group; ++c) sum += values[std::size_t(k * w.group + c)];
    offsets.push_back(128 * sum);
  }
  const Floats scales = normal_values<float>(n * groups, 5);
  const kernel::Int8Rows x{values.data(), scales.data(), offsets.data(), n, w.columns, w.group};
  Floats by_dot(n * kernel::int8_tile), plain(by_dot.size());
  kernel::int8_tile_product_by_dot(x, w.bytes.data(), by_dot.data());
  kernel::int8_tile_product(x, w.bytes.data(), plain.data());
  CHECK(same_bits(by_dot, plain));
}

TEST_CASE("NaN in a row of x is NaN in that row of the product, and in no other") {
  Stored w(20, 64, 32);
  Floats x = normal_values<float>(3 * w.columns, 2);
  x[std::size_t(w.columns + 5)] = INFINITY;
  Stream stream(1);
  const Floats y = product(stream, x, 3, w, {});
  for (std::size_t k = 0; k < y.size(); ++k)
    CHECK(std::isnan(y[k]) == (k / std::size_t(w.rows) == 1));
}

TEST_CASE("numbers too small for a scale are zeros in a product") {
  Stored w(16, 64, 32);
  Floats x(std::size_t(w.columns), 1e-38f);
  on_every_instruction_set([&] {
    Stream stream(1);
    CHECK(product(stream, x, 1, w, {}) == Floats(16, 0.f));
    CHECK(product(stream, Floats(x.size(), 0.f), 1, w, {}) == Floats(16, 0.f));
  });
}

TEST_CASE_TEMPLATE("all numbers of a matrix in int8 are those that are stored", T, float, double,
                   BFloat16, Float16) {
  for (const auto& [rows, columns, group] :
       {std::array{37, 96, 32}, std::array{16, 64, 64}, std::array{3, 128, 128}}) {
    Stored w(rows, columns, group);
    const Floats all = w.unpacked();
    const auto values = same_on_all_threads([&](Stream& stream) {
      std::vector<T> y(all.size(), T(NAN));
      kernel::int8_values<T>(stream, w.read(), tensor(y, rows, columns));
      return y;
    });
    for (std::size_t k = 0; k < all.size(); ++k) CHECK(double(values[k]) == double(T(all[k])));
  }
}

TEST_CASE_TEMPLATE("an embedding in int8 gives the rows that are stored", T, float, double,
                   BFloat16) {
  Stored w(21, 64, 32);
  const Floats all = w.unpacked();
  const std::vector<std::int32_t> ids{20, 0, 7, 20};
  std::vector<T> y(ids.size() * std::size_t(w.columns));
  Stream stream(2);
  kernel::int8_embedding<T>(stream, tensor(ids, 4, 1), w.read(), tensor(y, 4, w.columns));
  for (std::size_t r = 0; r < ids.size(); ++r)
    for (int c = 0; c < w.columns; ++c)
      CHECK(double(y[r * std::size_t(w.columns) + std::size_t(c)]) ==
            double(T(all[std::size_t(ids[r] * w.columns + c)])));
}

}  // namespace
}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/dropout.hpp"

#include "sinter/kernels/random.hpp"
#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Dropout;
using kernel::Stream;

namespace {

/// The mask as zeros and ones.
std::vector<int> mask(int rows, int width, Dropout dropout) {
  Stream stream(1);
  std::vector<float> ones(rows * width, 1), y(ones);
  kernel::dropout(stream, tensor(ones, rows, width), tensor(y, rows, width), dropout);
  std::vector<int> kept(rows * width);
  for (int i = 0; i < rows * width; ++i) kept[i] = y[i] != 0;
  return kept;
}

/// Correlation of two masks that keep with probability 1 - p, in standard deviations of chance.
double correlation(const std::vector<int>& a, const std::vector<int>& b, double p) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - (1 - p)) * (b[i] - (1 - p));
  return sum / (p * (1 - p) * std::sqrt(double(a.size())));
}

}  // namespace

TEST_CASE_TEMPLATE("kept elements are scaled, others are zero, both ways the same", T, float,
                   double) {
  on_every_instruction_set([] {
    for (int rows : {0, 1, 3, 17, 200})
      for (int width : {1, 3, 17, 48})
        for (bool add : {false, true}) {
          CAPTURE(rows);
          CAPTURE(width);
          CAPTURE(add);
          const int n = rows * width;
          const float p = width == 17 ? 0.1f : 0.25f;
          const Dropout dropout{p, 77, 5};
          const auto kept = mask(rows, width, dropout);
          const auto x = normal_values<T>(n, 1), before = normal_values<T>(n, 2);
          auto y = same_on_all_threads([&](Stream& s) {
            auto out = x;  // in place
            kernel::dropout(s, tensor(out, rows, width), tensor(out, rows, width), dropout);
            return out;
          });
          auto dx = same_on_all_threads([&](Stream& s) {
            auto out = before;
            kernel::dropout(s, tensor(x, rows, width), tensor(out, rows, width, add), dropout);
            return out;
          });
          std::vector<Wider<T>> want(n);
          for (int i = 0; i < n; ++i) want[i] = kept[i] ? x[i] / (1 - Wider<T>(p)) : 0;
          CHECK(share_of_bound(y, want, want, 2) <= 1);
          CHECK(share_of_bound(dx, want, want, 2, add ? Added<T>{&before} : Added<T>{}) <= 1);
        }
  });
}

TEST_CASE_TEMPLATE("probability 0 copies and adds", T, float, double) {
  Stream stream(2);
  const auto x = normal_values<T>(51, 1);
  std::vector<T> y(51), twice(51);
  kernel::dropout(stream, tensor(x, 3, 17), tensor(y, 3, 17), {});
  CHECK(same_bits(x, y));
  kernel::dropout(stream, tensor(x, 3, 17), tensor(y, 3, 17, true), {});
  for (int i = 0; i < 51; ++i) twice[i] = x[i] + x[i];
  CHECK(same_bits(y, twice));
  kernel::dropout(stream, tensor(x, 3, 17), tensor(y, 3, 17), {});
  CHECK(same_bits(x, y));
}

TEST_CASE("the mask keeps the right share in all, in every row and in every column") {
  const int rows = 1000, width = 1000;
  for (double p : {0.001, 0.1, 0.5, 0.9}) {
    CAPTURE(p);
    const auto kept = mask(rows, width, {float(p), 1234, 0});
    const double q = 1 - double(float(p)), deviation = std::sqrt(q * (1 - q));
    double total = 0, worst_row = 0, worst_column = 0;
    for (int i = 0; i < 1000; ++i) {
      double row = 0, column = 0;
      for (int j = 0; j < 1000; ++j) row += kept[i * width + j], column += kept[j * width + i];
      total += row;
      worst_row = std::max(worst_row, std::abs(row - 1000 * q) / (deviation * std::sqrt(1000.0)));
      worst_column =
          std::max(worst_column, std::abs(column - 1000 * q) / (deviation * std::sqrt(1000.0)));
    }
    CHECK(std::abs(total - 1e6 * q) / (deviation * 1000) < 4);
    CHECK(worst_row < (p < 0.01 ? 8 : 5));  // the largest of 1000; a skewed one for small p
    CHECK(worst_column < (p < 0.01 ? 8 : 5));
  }
}

TEST_CASE("masks of neighbouring rows, columns and keys are not correlated") {
  const int rows = 512, width = 512;
  for (float p : {0.1f, 0.5f}) {
    const auto base = mask(rows, width, {p, 1000, 0});
    for (int distance : {1, 2, 3, 4, 8, 16, 64, 128}) {
      CAPTURE(p);
      CAPTURE(distance);
      auto later_rows = mask(rows, width, {p, 1000, distance});
      auto other_key = mask(rows, width, {p, 1000 + std::uint64_t(distance), 0});
      auto flipped = mask(rows, width, {p, 1000ull ^ (1ull << (distance % 64)), 0});
      auto later_columns = base;
      std::rotate(later_columns.begin(), later_columns.begin() + distance, later_columns.end());
      CHECK(std::abs(correlation(base, later_rows, p)) < 5);
      CHECK(std::abs(correlation(base, later_columns, p)) < 5);
      CHECK(std::abs(correlation(base, other_key, p)) < 5);
      CHECK(std::abs(correlation(base, flipped, p)) < 5);
    }
  }
}

TEST_CASE("runs of kept elements have the lengths of chance") {
  const auto kept = mask(1000, 1000, {0.5f, 99, 0});
  std::vector<double> runs(12);
  for (int r = 0; r < 1000; ++r)
    for (int c = 0, length = 0; c < 1000; ++c) {
      length = c && kept[r * 1000 + c] == kept[r * 1000 + c - 1] ? length + 1 : 1;
      if (c + 1 == 1000 || kept[r * 1000 + c] != kept[r * 1000 + c + 1])
        runs[std::min(length, 11)] += 1;
    }
  for (int length = 1; length < 11; ++length) {
    CAPTURE(length);
    const double want = 1000 * 1001 * std::pow(0.5, length + 1);
    CHECK(std::abs(runs[length] - want) < 6 * std::sqrt(want) + 1000 * std::pow(0.5, length));
  }
}

// So that a run may go on with the kernels of another device.
TEST_CASE("the mask is SplitMix64 of the row and MurmurHash3's mixing of the column") {
  for (float p : {0.001f, 0.3f, 0.9f}) {
    const int rows = 50, width = 100;
    const Dropout dropout{p, 0x0123456789abcdef, 1'000'000'000'000};
    std::vector<int> want;
    for (int r = 0; r < rows; ++r) {
      const auto key = kernel::mix(dropout.key ^ kernel::mix(std::uint64_t(dropout.first_row + r)));
      for (std::uint32_t c = 0; c < std::uint32_t(width); ++c) {
        std::uint32_t bits = c + std::uint32_t(key);
        bits ^= bits >> 16;
        bits = bits * 0x85ebca6bu + std::uint32_t(key >> 32);
        bits ^= bits >> 13;
        bits *= 0xc2b2ae35u;
        bits ^= bits >> 16;
        want.push_back(double(std::int32_t(bits)) + 0x1p31 >= std::round(double(p) * 0x1p32));
      }
    }
    CAPTURE(p);
    CHECK(mask(rows, width, dropout) == want);
  }
}

TEST_CASE("any split of the rows has the mask of the whole") {
  const auto whole = mask(100, 33, {0.3f, 5, 1'000'000'000'000});
  for (int first : {1, 37, 64}) {
    const auto part = mask(100 - first, 33, {0.3f, 5, 1'000'000'000'000 + first});
    CHECK(std::equal(part.begin(), part.end(), whole.begin() + first * 33));
  }
  CHECK(whole != mask(100, 33, {0.3f, 6, 1'000'000'000'000}));
}

TEST_CASE("mix is SplitMix64") {
  static_assert(kernel::mix(0) == 0xe220a8397b1dcdafull);  // its published first output
}

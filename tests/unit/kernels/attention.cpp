// SPDX-License-Identifier: Apache-2.0
#include "unit/kernels/attention.hpp"

#include "sinter/kernels/random.hpp"

namespace sinter::detail::testing {
namespace {

constexpr AttentionSpan full{}, causal{.causal = true};

TEST_CASE_TEMPLATE("attention equals its definition, both directions", T, float, double) {
  on_every_instruction_set([] {
    for (AttentionSpan span : {causal, full}) {
      check<T>({0}, 2, 16, span);
      check<T>({0, 0}, 2, 16, span);
      check<T>({0, 1}, 1, 1, span);
      check<T>({0, 3}, 2, 5, span);
      check<T>({0, 17}, 3, 17, span);
      check<T>({0, 64, 128}, 4, 16, span);
      check<T>({0, 130}, 2, 32, span);
      check<T>({0, 97, 200}, 1, 48, span);
      check<T>({0, 70}, 1, 128, span);
      check<T>({0, 1, 1, 34, 99, 100}, 2, 24, span);
    }
  });
}

TEST_CASE_TEMPLATE(
    "attention whose heads share keys and values equals its definition, both directions", T, float,
    double) {
  on_every_instruction_set([] {
    for (AttentionSpan span : {causal, full}) {
      check<T>({0, 17}, 2, 5, span, {}, 1);
      check<T>({0, 64, 130}, 6, 16, span, {}, 2);
      check<T>({0, 1, 1, 34, 99, 100}, 4, 24, span, {}, 1);
      check<T>({0, 33, 34, 100}, 4, 70, span, {0.1f, 8, 1000}, 2);
    }
  });
}

TEST_CASE_TEMPLATE("attention over long sequences equals its definition", T, float, double) {
  check<T>({0, 700, 1300}, 2, 20, causal);
  check<T>({0, 600}, 1, 20, full);
  check<T>({0, 40}, 1, kernel::max_head_width, causal);
}

TEST_CASE_TEMPLATE("attention with dropout follows its mask, both directions", T, float, double) {
  on_every_instruction_set([] {
    for (AttentionSpan span : {causal, full}) {
      check<T>({0, 48}, 2, 48, span, {0.25f, 7, 0});
      check<T>({0, 33, 34, 100}, 2, 70, span, {0.1f, 8, 1000});
    }
  });
}

TEST_CASE("attention's mask keeps the right share, and rows, heads and keys differ") {
  const int depth = 256, heads = 4;
  const float p = 0.2f;
  const Starts starts = {0, 256, 512};
  const auto kept = mask<float>(starts, heads, depth, {p, 9, 0});
  CHECK(kept == mask<double>(starts, heads, depth, {p, 9, 0}));
  const double n = double(kept.size()), sum = double(std::count(kept.begin(), kept.end(), 1));
  CHECK(std::abs(sum - n * (1 - p)) < 5 * std::sqrt(n * p * (1 - p)));
  auto correlation = [&](int shift) {
    double total = 0;
    for (std::size_t i = shift; i < kept.size(); ++i)
      total += (kept[i] - (1 - p)) * (kept[i - shift] - (1 - p));
    return std::abs(total / (p * (1 - p) * std::sqrt(n)));
  };
  for (int shift : {1, 2, depth, heads * depth, 256 * heads * depth}) {
    CAPTURE(shift);  // keys, heads, rows, sequences
    CHECK(correlation(shift) < 5);
  }
}

TEST_CASE("attention's mask is that of dropout of its rows, under a key of the head") {
  const int heads = 3, depth = 40;
  const Starts starts = {0, 40, 64};
  const Dropout dropout{0.3f, 77, 5};
  const auto kept = mask<float>(starts, heads, depth, dropout);
  Stream stream(1);
  for (int h = 0; h < heads; ++h) {
    Dropout of_head = dropout;
    of_head.key = kernel::mix(dropout.key ^ std::uint64_t(h + 1) * kernel::mix_step);
    std::vector<float> ones(64 * depth, 1), y(ones);
    kernel::dropout(stream, tensor(ones, 64, depth), tensor(y, 64, depth), of_head);
    for (int r = 0; r < 64; ++r)
      for (int k = 0; k < (r < 40 ? 40 : 24); ++k)
        REQUIRE((y[r * depth + k] != 0) == (kept[(r * heads + h) * depth + k] == 1));
  }
}

TEST_CASE("attention's mask belongs to the place in the global batch") {
  const auto whole = mask<float>({0, 40, 64, 100}, 2, 40, {0.3f, 5, 20});
  const auto last = mask<float>({0, 36}, 2, 40, {0.3f, 5, 20 + 64});
  CHECK(std::equal(last.begin(), last.end(), whole.begin() + 64 * 80));
}

TEST_CASE("probabilities are at most 1 in the backward pass, however large the scores are") {
  const int rows = 70, width = 64;
  const Starts starts = {0, rows};
  const auto dy = normal_values<float>(rows * width, 2);
  on_every_instruction_set([&] {
    for (double scale : {30., 300., 3000., 30000.}) {  // scores of about 8 scale²
      CAPTURE(scale);
      const auto qkv = normal_values<float>(rows * 3 * width, 1, scale);
      std::vector<float> y(rows * width), log_sum(rows), dqkv(qkv.size());
      Stream stream(1);
      kernel::attention_forward(stream, tensor(qkv, rows, 3 * width), tensor(y, rows, width),
                                tensor(log_sum, rows, 1), sequences_of(starts), full);
      kernel::attention_backward(stream, tensor(qkv, rows, 3 * width), tensor(y, rows, width),
                                 tensor(dy, rows, width), tensor(log_sum, rows, 1),
                                 tensor(dqkv, rows, 3 * width), sequences_of(starts), full,
                                 static_cast<float*>(nullptr));
      for (int d = 0; d < width; ++d) {
        double most = 0;  // of a value's gradient, Σ p dy
        for (int r = 0; r < rows; ++r) most += std::abs(dy[r * width + d]);
        for (int r = 0; r < rows; ++r)
          CHECK(std::abs(dqkv[(r * 3 + 2) * width + d]) <= 1.0001 * most);
      }
    }
  });
}

TEST_CASE_TEMPLATE("sequences do not see each other", T, float, double) {
  const int width = 32, heads = 2;
  auto qkv = normal_values<T>(100 * 3 * width, 1);
  auto run = [&] {
    Stream stream(2);
    const Starts starts = {0, 37, 100};
    std::vector<T> y(100 * width), log_sum(100 * heads);
    kernel::attention_forward(stream, tensor(qkv, 100, 3 * width), tensor(y, 100, width),
                              tensor(log_sum, 100, heads), sequences_of(starts), causal);
    return y;
  };
  const auto y = run();
  for (int i = 37 * 3 * width; i < 100 * 3 * width; ++i) qkv[i] = T(NAN);
  const auto changed = run();
  CHECK(std::equal(y.begin(), y.begin() + 37 * width, changed.begin()));
  for (int i = 37 * width; i < 100 * width; ++i) REQUIRE(std::isnan(changed[i]));
}

TEST_CASE_TEMPLATE("large scores do not overflow, a NaN reaches all that see it", T, float,
                   double) {
  on_every_instruction_set([] {
    const int width = 16, rows = 50;
    std::vector<T> qkv(rows * 3 * width, T(100)), y(rows * width), log_sum(rows);
    const Starts starts = {0, rows};
    Stream stream(1);
    kernel::attention_forward(stream, tensor(qkv, rows, 3 * width), tensor(y, rows, width),
                              tensor(log_sum, rows, 1), sequences_of(starts), causal);
    for (T v : y) CHECK(v == doctest::Approx(100));
    qkv[20 * 3 * width + width] = T(NAN);  // a key
    kernel::attention_forward(stream, tensor(qkv, rows, 3 * width), tensor(y, rows, width),
                              tensor(log_sum, rows, 1), sequences_of(starts), causal);
    for (int i = 0; i < rows * width; ++i) CHECK(std::isnan(y[i]) == (i >= 20 * width));
  });
}

}  // namespace
}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
// Matrix products of narrow elements, and kernels that are made of them: sums are fp32.
#include "sinter/kernels/attention.hpp"
#include "sinter/kernels/loss.hpp"
#include "sinter/kernels/matmul.hpp"

#include "unit/kernels/narrow.hpp"

namespace sinter::detail::testing {
namespace {

TEST_CASE_TEMPLATE("sums of narrow elements are fp32: attention", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  using kernel::AttentionSpan;
  on_every_instruction_set([] {
    for (AttentionSpan span : {AttentionSpan{.causal = true}, AttentionSpan{},
                               AttentionSpan{.causal = true, .window = 70}})
      for (float probability : {0.f, .3f}) {
        if (is_sample && span.window == 0 && probability == 0) continue;
        CAPTURE(span.causal);
        CAPTURE(span.window);
        CAPTURE(probability);
        // Where heads share keys, it is with dropout.
        const int heads = 4, width = 4 * 20, key_width = probability > 0 ? width / 2 : width;
        const int columns = width + 2 * key_width;
        const kernel::Dropout dropout{probability, 7, 3};
        std::vector<std::int32_t> at{0, 1, 78, 78, 228};  // several blocks of keys and strips
        const int n = at.back();
        const Halves qkv = normal_values<H>(n * columns, 1), dy = normal_values<H>(n * width, 2);
        const Halves before = normal_values<H>(n * columns, 3);
        Halves y(n * width);
        Floats log_sum(n * heads), want(n * width), want_sum(n * heads);
        Stream stream(2);
        kernel::attention_forward(stream, tensor(qkv, rows, columns), tensor(y, rows, width),
                                  tensor(log_sum, rows, heads), sequences_of(at), span, dropout);
        kernel::attention_forward(stream, tensor(wide(qkv), rows, columns),
                                  tensor(want, rows, width), tensor(want_sum, rows, heads),
                                  sequences_of(at), span, dropout);
        CHECK(same_bits(y, narrow<H>(want)));
        CHECK(same_bits(log_sum, want_sum));
        Floats scratch(kernel::attention_scratch<H>(n, key_width), NAN);
        for (bool add : {false, true}) {
          Halves got = same_on_all_threads([&](Stream& s) {
            Halves dqkv = before;
            kernel::attention_backward(s, tensor(qkv, rows, columns), tensor(y, rows, width),
                                       tensor(dy, rows, width), tensor(log_sum, rows, heads),
                                       tensor(dqkv, rows, columns, add), sequences_of(at), span,
                                       scratch.data(), dropout);
            return dqkv;
          });
          Floats same = wide(before);
          kernel::attention_backward(stream, tensor(wide(qkv), rows, columns),
                                     tensor(wide(y), rows, width), tensor(wide(dy), rows, width),
                                     tensor(log_sum, rows, heads), tensor(same, rows, columns, add),
                                     sequences_of(at), span, static_cast<float*>(nullptr), dropout);
          CHECK((add ? nearly(got, same) : same_bits(got, narrow<H>(same))));
        }
      }
  });
}

TEST_CASE_TEMPLATE("sums of narrow elements are fp32: matmul", H, BFloat16, Float16) {
  on_every_instruction_set([] {
    check_matmuls<H, H>(kernel::Gemm::tiles);
    check_matmuls<H, float>(kernel::Gemm::tiles);
  });
}

TEST_CASE_TEMPLATE("few rows of narrow elements are multiplied where the others lie", H, BFloat16,
                   Float16) {
  on_every_instruction_set([] {
    check_matmuls<H, H>(kernel::Gemm::few);
    check_matmuls<H, float>(kernel::Gemm::few);
  });
  // A row has the same bits beside any others, and over several blocks of the depth.
  const int n = 150, k = 2100;
  const auto a = normal_values<H>(11 * k, 1), b = normal_values<H>(k * n, 2);
  for (const bool transposed : {false, true}) {
    Stream threads(2), stream(threads, kernel::MatmulInputs::in_place);
    const kernel::Matrix<const H> by{b.data(), transposed ? n : k, transposed ? k : n,
                                     transposed ? k : n, transposed};
    Floats all(11 * n), alone(n);
    kernel::matmul(stream, kernel::Tensor(a.data(), 11, k), by, tensor(all, 11, n));
    kernel::matmul(stream, kernel::Tensor(a.data() + 7 * k, 1, k), by, tensor(alone, 1, n));
    CHECK(same_bits(alone, Floats(all.begin() + 7 * n, all.begin() + 8 * n)));
    const Product want = product(a.data(), b.data(), 11, n, k, false, transposed);
    const double factor = (1 + std::sqrt(double(k))) * epsilon<float>();
    for (int i = 0; i < 11 * n; ++i)
      CHECK(std::abs(all[std::size_t(i)] - want.value[std::size_t(i)]) <=
            factor * want.magnitude[std::size_t(i)]);
  }
}

TEST_CASE_TEMPLATE("few rows of narrow elements take the terms of each sum in order, fused or not",
                   H, BFloat16, Float16) {
  const int n = 1041, k = 523;  // tails of vectors, of pairs of these, and of rows at once
  const auto a = normal_values<H>(11 * k, 1), b = normal_values<H>(k * n, 2);
  const Floats bias = normal_values<float>(n, 3);
  Floats sums, fused;
  for (int i = 0; i < 11; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0, sum_fused = 0;
      for (int p = 0; p < k; ++p) {
        const float x = float(a[std::size_t(i * k + p)]), y = float(b[std::size_t(p * n + j)]);
        const float product = x * y;
        sum += product, sum_fused = std::fma(x, y, sum_fused);
      }
      sums.push_back(bias[std::size_t(j)] + sum), fused.push_back(bias[std::size_t(j)] + sum_fused);
    }
  Stream stream(1);
  on_every_instruction_set([&] {
    for (int m = 1; m <= 11; ++m) {
      Floats c(std::size_t(m * n), 1);
      kernel::matmul_by<H, float>(kernel::Gemm::few, stream, kernel::Tensor(a.data(), m, k),
                                  kernel::Tensor(b.data(), k, n), tensor(c, m, n), {bias.data()});
      CAPTURE(m);
      CHECK((same_bits(c, Floats(fused.begin(), fused.begin() + m * n)) ||
             same_bits(c, Floats(sums.begin(), sums.begin() + m * n))));
    }
  });
}

TEST_CASE_TEMPLATE("a narrow product is the wide one, rounded once", H, BFloat16, Float16) {
  on_every_instruction_set([] { check_rounded_products<H>(kernel::Gemm::tiles); });
}

TEST_CASE_TEMPLATE("sums of narrow elements are fp32: matmul of wide strides", H, BFloat16,
                   Float16) {
  using Halves = std::vector<H>;
  Stream stream(2);
  const int m = 20, n = 30, k = 40;
  const Halves a = normal_values<H>(m * 2 * k, 1), b = normal_values<H>(k * n, 2);
  Halves dense_a(m * k);
  for (int i = 0; i < m; ++i) std::copy_n(a.begin() + i * 2 * k, k, dense_a.begin() + i * k);
  Floats c(m * n), want(m * n);
  kernel::matmul(stream, kernel::Matrix<const H>{a.data(), m, k, 2 * k},
                 kernel::Tensor(b.data(), k, n), kernel::Tensor(c.data(), m, n));
  kernel::matmul(stream, kernel::Tensor(dense_a.data(), m, k), kernel::Tensor(b.data(), k, n),
                 kernel::Tensor(want.data(), m, n));
  CHECK(same_bits(c, want));
}

TEST_CASE_TEMPLATE("sums of narrow elements are fp32: cross-entropy of logits that are not stored",
                   H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    const int width = 24, vocabulary = 77;
    const double weight = 1. / rows;
    const Halves x = normal_values<H>(rows * width, 1),
                 table = normal_values<H>(vocabulary * width, 2);
    const Floats dtable_before = normal_values<float>(vocabulary * width, 4);
    std::vector<std::int32_t> targets(rows);
    for (int r = 0; r < rows; ++r) targets[r] = r % 9 == 0 ? -1 : r * 5 % vocabulary;
    Stream stream(2);
    Floats losses(rows), want_losses(rows), want_dx(rows * width), want_dtable = dtable_before;
    Halves dx(rows * width);
    Floats dtable = dtable_before, scratch(16 * vocabulary);
    kernel::linear_cross_entropy(stream, tensor(x, rows, width), tensor(table, vocabulary, width),
                                 tensor(targets, rows, 1), tensor(losses, rows, 1),
                                 tensor(dx, rows, width), tensor(dtable, vocabulary, width, true),
                                 weight, tensor(scratch, 16, vocabulary));
    kernel::linear_cross_entropy(
        stream, tensor(wide(x), rows, width), tensor(wide(table), vocabulary, width),
        tensor(targets, rows, 1), tensor(want_losses, rows, 1), tensor(want_dx, rows, width),
        tensor(want_dtable, vocabulary, width, true), weight, tensor(scratch, 16, vocabulary));
    for (int r = 0; r < rows; ++r) CHECK(std::abs(losses[r] - want_losses[r]) <= 1e-4);
    // Gradients of the logits are rounded to H, relative to themselves; their magnitudes sum
    // to at most 2 weight in a row, and each meets at most the largest number of the other matrix.
    float largest = 0;
    for (float v : wide(x)) largest = std::max(largest, std::abs(v));
    for (float v : wide(table)) largest = std::max(largest, std::abs(v));
    for (int i = 0; i < rows * width; ++i)
      CHECK(std::abs(float(dx[i]) - want_dx[i]) <= 2 * half_ulp<H> * 2 * weight * double(largest));
    for (int i = 0; i < vocabulary * width; ++i)
      CHECK(std::abs(dtable[i] - want_dtable[i]) <=
            2 * half_ulp<H> * weight * rows * double(largest));
  });
}

}  // namespace
}  // namespace sinter::detail::testing

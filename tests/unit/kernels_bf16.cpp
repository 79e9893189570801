// Kernels with bfloat16 elements compute in fp32 and round what they store: their results are, bit
// for bit, the rounded results of the fp32 kernels, which are checked against double precision.
#include <array>

#include "sinter/kernels/activation.hpp"
#include "sinter/kernels/attention.hpp"
#include "sinter/kernels/dropout.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/embedding.hpp"
#include "sinter/kernels/layer_norm.hpp"
#include "sinter/kernels/loss.hpp"
#include "sinter/kernels/matmul.hpp"
#include "sinter/kernels/optimizer.hpp"
#include "sinter/kernels/pool.hpp"
#include "sinter/kernels/rms_norm.hpp"
#include "sinter/kernels/swiglu.hpp"

#include "../../src/kernels/cpu/gemm.hpp"
#include "kernels_support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::testing;
using kernel::Stream;
using sinter::BFloat16;

namespace {

using Halves = std::vector<BFloat16>;
using Floats = std::vector<float>;

Halves random(std::int64_t n, std::uint64_t seed) { return normal_values<BFloat16>(n, seed); }
Floats wide(const Halves& x) { return {x.begin(), x.end()}; }
Halves narrow(const Floats& x) {
  Halves result(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = BFloat16(x[i]);
  return result;
}
const std::vector<std::int32_t> starts{0, 5, 6, 23, 23, 60};
constexpr int sequences = 5, rows = 60;

/// A few units in the last place of a bfloat16.
bool nearly(const Halves& got, const Floats& want, double ulps = 1) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(float(got[i]) - want[i]) <= ulps * 0x1p-8 * std::abs(want[i]) + 1e-6))
      return false;
  return got.size() == want.size();
}

TEST_CASE("rounding to nearest, ties to even") {
  for (int bits = 0; bits < 1 << 16; ++bits) {
    BFloat16 x;
    x.bits = std::uint16_t(bits);
    BFloat16 again(static_cast<float>(x));
    if (std::isnan(float(x))) {
      REQUIRE(std::isnan(float(again)));
    } else {
      REQUIRE(again.bits == x.bits);
    }
  }
  auto rounded = [](std::uint32_t bits) { return int(BFloat16(std::bit_cast<float>(bits)).bits); };
  CHECK(rounded(0x3f808000) == 0x3f80);  // a tie, to even
  CHECK(rounded(0x3f818000) == 0x3f82);
  CHECK(rounded(0x3f808001) == 0x3f81);
  CHECK(rounded(0x3f80ffff) == 0x3f81);
  CHECK(rounded(0x7f7fffff) == 0x7f80);  // the largest float becomes infinity
  CHECK(rounded(0x7f800001) == 0x7fc0);  // a NaN whose bits are all below
  CHECK(rounded(0x00000001) == 0x0000);
}

TEST_CASE("cast") {
  on_every_instruction_set([] {
    std::mt19937 engine(1);
    Floats x(1003);
    for (float& v : x) v = std::bit_cast<float>(std::uint32_t(engine()));
    x[0] = NAN, x[1] = INFINITY, x[2] = -INFINITY, x[3] = std::bit_cast<float>(0x7f800001u);
    Stream stream(2);
    Halves y(x.size());
    kernel::cast(stream, x.data(), y.data(), std::int64_t(x.size()));
    CHECK(same_bits(y, narrow(x)));
    Floats back(y.size());
    kernel::cast(stream, y.data(), back.data(), std::int64_t(y.size()));
    CHECK(same_bits(back, wide(y)));
  });
}

TEST_CASE("elementwise") {
  on_every_instruction_set([] {
    Stream stream(2);
    const int columns = 37, n = rows * columns;
    const Halves a = random(n, 1), b = random(n, 2), bias = random(columns, 3);
    Halves y(n);
    Floats want(n);
    kernel::add(stream, a.data(), b.data(), y.data(), n);
    kernel::add(stream, wide(a).data(), wide(b).data(), want.data(), n);
    CHECK(same_bits(y, narrow(want)));
    y = b;
    kernel::accumulate(stream, a.data(), y.data(), n);
    CHECK(same_bits(y, narrow(want)));
    kernel::scale(stream, a.data(), .3f, y.data(), n);
    kernel::scale(stream, wide(a).data(), .3f, want.data(), n);
    CHECK(same_bits(y, narrow(want)));
    kernel::broadcast_add(stream, a.data(), bias.data(), y.data(), rows, columns);
    kernel::broadcast_add(stream, wide(a).data(), wide(bias).data(), want.data(), rows, columns);
    CHECK(same_bits(y, narrow(want)));
    kernel::broadcast_rows(stream, bias.data(), y.data(), rows, columns);
    kernel::broadcast_rows(stream, wide(bias).data(), want.data(), rows, columns);
    CHECK(same_bits(y, narrow(want)));
    kernel::fill(stream, y.data(), .1f, n);
    CHECK(same_bits(y, Halves(n, BFloat16(.1f))));
    for (bool add : {false, true}) {
      Floats sum(columns, .5f), same = sum;
      kernel::column_sum(stream, a.data(), sum.data(), rows, columns, add);
      kernel::column_sum(stream, wide(a).data(), same.data(), rows, columns, add);
      CHECK(same_bits(sum, same));
    }
  });
}

TEST_CASE("layer norm") {
  on_every_instruction_set([] {
    for (int width : {1, 17, 48, 130}) {
      CAPTURE(width);
      Stream stream(2);
      const int n = rows * width;
      const Halves a = random(n, 1), b = random(n, 2), dy = random(n, 3), dh = random(n, 4);
      const Halves weight = random(width, 5), bias = random(width, 6), before = random(n, 7);
      Halves h(n), y(n);
      Floats mean(rows), inverse(rows), want(n), want_mean(rows), want_inverse(rows);
      kernel::add_layer_norm_forward(stream, a.data(), b.data(), weight.data(), bias.data(),
                                     h.data(), y.data(), mean.data(), inverse.data(), rows, width,
                                     1e-5);
      Floats sum(n);
      kernel::add(stream, wide(a).data(), wide(b).data(), sum.data(), n);
      CHECK(same_bits(h, narrow(sum)));
      kernel::layer_norm_forward(stream, wide(h).data(), wide(weight).data(), wide(bias).data(),
                                 want.data(), want_mean.data(), want_inverse.data(), rows, width,
                                 1e-5);
      CHECK(same_bits(y, narrow(want)));
      CHECK(same_bits(mean, want_mean));
      CHECK(same_bits(inverse, want_inverse));
      Floats scratch(kernel::layer_norm_scratch(width));
      for (bool add : {false, true}) {
        Halves dx = before, dx2 = before;
        Floats dw(width, .5f), db(width, .25f), want_dw = dw, want_db = db;
        Floats want_dx = wide(before), want_dx2 = wide(before);
        kernel::layer_norm_backward(stream, h.data(), weight.data(), mean.data(), inverse.data(),
                                    dy.data(), dh.data(), dx.data(), dx2.data(), add, !add,
                                    dw.data(), db.data(), add, rows, width, scratch.data());
        kernel::layer_norm_backward(stream, wide(h).data(), wide(weight).data(), mean.data(),
                                    inverse.data(), wide(dy).data(), wide(dh).data(),
                                    want_dx.data(), want_dx2.data(), add, !add, want_dw.data(),
                                    want_db.data(), add, rows, width, scratch.data());
        CHECK(same_bits(dx, narrow(want_dx)));
        CHECK(same_bits(dx2, narrow(want_dx2)));
        CHECK(same_bits(dw, want_dw));
        CHECK(same_bits(db, want_db));
      }
    }
  });
}

TEST_CASE("RMS norm") {
  on_every_instruction_set([] {
    for (int width : {1, 17, 48, 130}) {
      CAPTURE(width);
      Stream stream(2);
      const int n = rows * width;
      const Halves a = random(n, 1), b = random(n, 2), dy = random(n, 3), dh = random(n, 4);
      const Halves weight = random(width, 5), before = random(n, 6);
      Halves h(n), y(n);
      Floats inverse(rows), want(n), want_inverse(rows), sum(n);
      kernel::add_rms_norm_forward(stream, a.data(), b.data(), weight.data(), h.data(), y.data(),
                                   inverse.data(), rows, width, 1e-6);
      kernel::add(stream, wide(a).data(), wide(b).data(), sum.data(), n);
      CHECK(same_bits(h, narrow(sum)));
      kernel::rms_norm_forward(stream, wide(h).data(), wide(weight).data(), want.data(),
                               want_inverse.data(), rows, width, 1e-6);
      CHECK(same_bits(y, narrow(want)));
      CHECK(same_bits(inverse, want_inverse));
      Floats scratch(kernel::rms_norm_scratch(width));
      for (bool add : {false, true}) {
        Halves dx = before, dx2 = before;
        Floats dw(width, .5f), want_dw = dw, want_dx = wide(before), want_dx2 = wide(before);
        kernel::rms_norm_backward(stream, h.data(), weight.data(), inverse.data(), dy.data(),
                                  dh.data(), dx.data(), dx2.data(), add, !add, dw.data(), add, rows,
                                  width, scratch.data());
        kernel::rms_norm_backward(stream, wide(h).data(), wide(weight).data(), inverse.data(),
                                  wide(dy).data(), wide(dh).data(), want_dx.data(), want_dx2.data(),
                                  add, !add, want_dw.data(), add, rows, width, scratch.data());
        CHECK(same_bits(dx, narrow(want_dx)));
        CHECK(same_bits(dx2, narrow(want_dx2)));
        CHECK(same_bits(dw, want_dw));
      }
    }
  });
}

TEST_CASE("activations") {
  on_every_instruction_set([] {
    Stream stream(2);
    const int columns = 37, n = rows * columns;
    const Halves x = random(n, 1), dy = random(n, 2), bias = random(columns, 3), old = random(n, 4);
    for (auto f : {kernel::Activation::gelu_tanh, kernel::Activation::gelu_erf,
                   kernel::Activation::relu, kernel::Activation::silu}) {
      Halves y(n);
      Floats want(n);
      kernel::activation_forward(stream, f, x.data(), y.data(), n);
      kernel::activation_forward(stream, f, wide(x).data(), want.data(), n);
      CHECK(same_bits(y, narrow(want)));
      for (bool add : {false, true}) {
        y = old, want = wide(old);
        kernel::activation_backward(stream, f, x.data(), dy.data(), y.data(), n, add);
        kernel::activation_backward(stream, f, wide(x).data(), wide(dy).data(), want.data(), n,
                                    add);
        CHECK(same_bits(y, narrow(want)));
      }
      Halves sums = x;
      kernel::bias_activation_forward(stream, f, sums.data(), bias.data(), y.data(), rows, columns);
      kernel::broadcast_add(stream, wide(x).data(), wide(bias).data(), want.data(), rows, columns);
      CHECK(same_bits(sums, narrow(want)));
      kernel::activation_forward(stream, f, wide(sums).data(), want.data(), n);
      CHECK(same_bits(y, narrow(want)));
    }
  });
}

TEST_CASE("SwiGLU") {
  on_every_instruction_set([] {
    Stream stream(2);
    const int width = 37, n = rows * width;
    const Halves x = random(2 * n, 1), dy = random(n, 2), old = random(2 * n, 3);
    Halves y(n);
    Floats want(n);
    kernel::swiglu_forward(stream, x.data(), y.data(), rows, width);
    kernel::swiglu_forward(stream, wide(x).data(), want.data(), rows, width);
    CHECK(same_bits(y, narrow(want)));
    for (bool add : {false, true}) {
      y = old, want = wide(old);
      kernel::swiglu_backward(stream, x.data(), dy.data(), y.data(), rows, width, add);
      kernel::swiglu_backward(stream, wide(x).data(), wide(dy).data(), want.data(), rows, width,
                              add);
      CHECK(same_bits(y, narrow(want)));
    }
  });
}

TEST_CASE("dropout, tables and the last rows") {
  on_every_instruction_set([] {
    Stream stream(2);
    const int width = 37, n = rows * width, vocabulary = 11;
    const Halves x = random(n, 1), table = random(vocabulary * width, 2);
    const Halves positions = random(64 * width, 3), old = random(n, 4);
    std::vector<std::int32_t> ids(rows);
    for (int r = 0; r < rows; ++r) ids[r] = r * 7 % vocabulary;
    const kernel::Dropout dropout{.3f, 99, 5};
    Halves y(n);
    Floats want(n);
    kernel::dropout_forward(stream, x.data(), y.data(), rows, width, dropout);
    kernel::dropout_forward(stream, wide(x).data(), want.data(), rows, width, dropout);
    CHECK(same_bits(y, narrow(want)));
    y = old, want = wide(old);
    kernel::dropout_backward(stream, x.data(), y.data(), rows, width, dropout, true);
    kernel::dropout_backward(stream, wide(x).data(), want.data(), rows, width, dropout, true);
    CHECK(same_bits(y, narrow(want)));

    kernel::embedding_forward(stream, ids.data(), table.data(), y.data(), rows, width);
    kernel::embedding_forward(stream, ids.data(), wide(table).data(), want.data(), rows, width);
    CHECK(same_bits(y, narrow(want)));
    kernel::position_forward(stream, x.data(), positions.data(), starts.data(), sequences, y.data(),
                             width);
    kernel::position_forward(stream, wide(x).data(), wide(positions).data(), starts.data(),
                             sequences, want.data(), width);
    CHECK(same_bits(y, narrow(want)));
    for (bool add : {false, true}) {
      Floats sums(64 * width, .5f), same = sums;
      kernel::embedding_backward(stream, ids.data(), x.data(), sums.data(), rows, vocabulary, width,
                                 add);
      kernel::embedding_backward(stream, ids.data(), wide(x).data(), same.data(), rows, vocabulary,
                                 width, add);
      CHECK(same_bits(sums, same));
      kernel::position_backward(stream, x.data(), starts.data(), sequences, sums.data(), 64, width,
                                add);
      kernel::position_backward(stream, wide(x).data(), starts.data(), sequences, same.data(), 64,
                                width, add);
      CHECK(same_bits(sums, same));
      const std::vector<std::int32_t> full{0, 5, 6, 23, 60};
      y = old, want = wide(old);
      kernel::last_rows_backward(stream, x.data(), full.data(), 4, y.data(), width, add);
      kernel::last_rows_backward(stream, wide(x).data(), full.data(), 4, want.data(), width, add);
      CHECK(same_bits(y, narrow(want)));
    }
  });
}

TEST_CASE("attention") {
  on_every_instruction_set([] {
    for (bool causal : {true, false})
      for (float probability : {0.f, .3f}) {
        CAPTURE(causal);
        CAPTURE(probability);
        const int heads = 3, width = 3 * 20;
        const kernel::Dropout dropout{probability, 7, 3};
        std::vector<std::int32_t> at{0, 1, 78, 78, 228};  // several blocks of keys and strips
        const int count = 4, n = at.back();
        const Halves qkv = random(n * 3 * width, 1), dy = random(n * width, 2);
        const Halves before = random(n * 3 * width, 3);
        Halves y(n * width);
        Floats log_sum(n * heads), want(n * width), want_sum(n * heads);
        Stream stream(2);
        kernel::attention_forward(stream, qkv.data(), y.data(), log_sum.data(), at.data(), count,
                                  heads, width, causal, dropout);
        kernel::attention_forward(stream, wide(qkv).data(), want.data(), want_sum.data(), at.data(),
                                  count, heads, width, causal, dropout);
        CHECK(same_bits(y, narrow(want)));
        CHECK(same_bits(log_sum, want_sum));
        Floats scratch(kernel::attention_scratch<BFloat16>(n, width), NAN);
        for (bool add : {false, true}) {
          Halves got = same_on_all_threads([&](Stream& s) {
            Halves dqkv = before;
            kernel::attention_backward(s, qkv.data(), y.data(), dy.data(), log_sum.data(),
                                       dqkv.data(), add, at.data(), count, heads, width, causal,
                                       scratch.data(), dropout);
            return dqkv;
          });
          Floats same = wide(before);
          kernel::attention_backward(stream, wide(qkv).data(), wide(y).data(), wide(dy).data(),
                                     log_sum.data(), same.data(), add, at.data(), count, heads,
                                     width, causal, static_cast<float*>(nullptr), dropout);
          CHECK((add ? nearly(got, same) : same_bits(got, narrow(same))));
        }
      }
  });
}

/// Σ over the depth in double precision, with the sum of the magnitudes: what rounding is
/// relative to.
struct Product {
  std::vector<double> value, magnitude;
};
template <class T>
Product product(const T* a, const T* b, int m, int n, int k, bool a_transposed, bool b_transposed) {
  Product p{std::vector<double>(m * n), std::vector<double>(m * n)};
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l) {
        double x = double(float(a[a_transposed ? l * m + i : i * k + l]));
        x *= double(float(b[b_transposed ? j * k + l : l * n + j]));
        p.value[i * n + j] += x, p.magnitude[i * n + j] += std::abs(x);
      }
  return p;
}

/// fp32 sums of exact products in any order: k + 1 roundings; then one to bfloat16.
template <class C>
void check_matmul(kernel::Gemm gemm, int m, int n, int k, bool a_transposed, bool b_transposed,
                  bool add) {
  CAPTURE(m);
  CAPTURE(n);
  CAPTURE(k);
  CAPTURE(a_transposed);
  CAPTURE(b_transposed);
  CAPTURE(add);
  const Halves a = random(m * k, 1), b = random(k * n, 2);
  const auto before = normal_values<C>(m * n, 3);
  auto matrix = [](const Halves& values, int r, int c, bool transposed) {
    return transposed ? kernel::transposed(values.data(), c, r)
                      : kernel::dense(values.data(), r, c);
  };
  const auto got = same_on_all_threads([&](Stream& s) {
    auto c = before;
    kernel::matmul_by<BFloat16, C>(gemm, s, matrix(a, m, k, a_transposed),
                                   matrix(b, k, n, b_transposed), kernel::dense(c.data(), m, n),
                                   add);
    return c;
  });
  const Product want = product(a.data(), b.data(), m, n, k, a_transposed, b_transposed);
  bool fine = true;
  for (int i = 0; i < m * n; ++i) {
    double value = want.value[i] + (add ? double(float(before[i])) : 0);
    double bound = (k + 2) * 0x1p-24 * (want.magnitude[i] + std::abs(value));
    if (sizeof(C) == 2) bound += 0x1p-8 * std::abs(value);
    fine = fine && std::abs(double(float(got[i])) - value) <= bound;
  }
  CHECK(fine);
}

template <class C>
void check_matmuls(kernel::Gemm gemm) {
  for (bool a_transposed : {false, true})
    for (bool b_transposed : {false, true})
      for (bool add : {false, true})
        for (auto [m, n, k] : {std::array{1, 1, 1}, std::array{13, 33, 7}, std::array{31, 70, 64},
                               std::array{65, 300, 301}})
          check_matmul<C>(gemm, m, n, k, a_transposed, b_transposed, add);
  check_matmul<C>(gemm, 257, 40, 600, false, false, true);
  check_matmul<C>(gemm, 40, 33, 1100, true, true, true);
}
TEST_CASE_TEMPLATE("matmul", C, BFloat16, float) {
  on_every_instruction_set([] { check_matmuls<C>(kernel::Gemm::tiles); });
}
TEST_CASE_TEMPLATE("matmul by pairs", C, BFloat16, float) {
  if (kernel::has_pairs()) {
    check_matmuls<C>(kernel::Gemm::pairs);
  } else {
    MESSAGE("skipped: this processor has no AVX-512 BF16");
  }
}

TEST_CASE_TEMPLATE("matmul by the vendor's library", C, BFloat16, float) {
  if (kernel::vendor_has_bf16()) {
    check_matmuls<C>(kernel::Gemm::vendor);
  } else {
    MESSAGE("skipped: this LibTorch exports no product of bfloat16");
  }
}

TEST_CASE("matmul of wide strides") {
  Stream stream(2);
  const int m = 20, n = 30, k = 40;
  const Halves a = random(m * 2 * k, 1), b = random(k * n, 2);
  Halves dense_a(m * k);
  for (int i = 0; i < m; ++i) std::copy_n(a.begin() + i * 2 * k, k, dense_a.begin() + i * k);
  Floats c(m * n), want(m * n);
  kernel::matmul(stream, kernel::Matrix<const BFloat16>{a.data(), m, k, 2 * k},
                 kernel::dense(b.data(), k, n), kernel::dense(c.data(), m, n), false);
  kernel::matmul(stream, kernel::dense(dense_a.data(), m, k), kernel::dense(b.data(), k, n),
                 kernel::dense(want.data(), m, n), false);
  CHECK(same_bits(c, want));
}

TEST_CASE("cross-entropy of logits that are not stored") {
  on_every_instruction_set([] {
    const int width = 24, vocabulary = 77;
    const double weight = 1. / rows;
    const Halves x = random(rows * width, 1), table = random(vocabulary * width, 2);
    const Floats dtable_before = normal_values<float>(vocabulary * width, 4);
    std::vector<std::int32_t> targets(rows);
    for (int r = 0; r < rows; ++r) targets[r] = r % 9 == 0 ? -1 : r * 5 % vocabulary;
    Stream stream(2);
    Floats losses(rows), want_losses(rows), want_dx(rows * width), want_dtable = dtable_before;
    Halves dx(rows * width);
    Floats dtable = dtable_before, scratch(16 * vocabulary);
    kernel::linear_cross_entropy(stream, x.data(), table.data(), targets.data(), losses.data(),
                                 dx.data(), false, dtable.data(), true, weight, scratch.data(),
                                 rows, width, vocabulary, 16);
    kernel::linear_cross_entropy(stream, wide(x).data(), wide(table).data(), targets.data(),
                                 want_losses.data(), want_dx.data(), false, want_dtable.data(),
                                 true, weight, scratch.data(), rows, width, vocabulary, 16);
    for (int r = 0; r < rows; ++r) CHECK(std::abs(losses[r] - want_losses[r]) <= 1e-4);
    // Gradients of the logits are rounded to bfloat16, relative to themselves; their magnitudes sum
    // to at most 2 weight in a row, and each meets at most the largest number of the other matrix.
    float largest = 0;
    for (float v : wide(x)) largest = std::max(largest, std::abs(v));
    for (float v : wide(table)) largest = std::max(largest, std::abs(v));
    for (int i = 0; i < rows * width; ++i)
      CHECK(std::abs(float(dx[i]) - want_dx[i]) <= 0x1p-7 * 2 * weight * double(largest));
    for (int i = 0; i < vocabulary * width; ++i)
      CHECK(std::abs(dtable[i] - want_dtable[i]) <= 0x1p-7 * weight * rows * double(largest));
  });
}

TEST_CASE("optimizers make the copy of the weights that they update") {
  on_every_instruction_set([] {
    Stream stream(2);
    const int n = 1003;
    const Floats start = normal_values<float>(n, 1), g = normal_values<float>(n, 2);
    Floats master = start, want = start, m(n, .1f), v(n, .2f), want_m = m, want_v = v;
    Halves copy(n);
    const kernel::AdamWStep step{.01, .9, .999, 1e-8, .1, .7, .1, .001};
    kernel::adamw(stream, master.data(), g.data(), m.data(), v.data(), copy.data(), n, step);
    kernel::adamw(stream, want.data(), g.data(), want_m.data(), want_v.data(),
                  static_cast<float*>(nullptr), n, step);
    CHECK(same_bits(master, want));
    CHECK(same_bits(m, want_m));
    CHECK(same_bits(v, want_v));
    CHECK(same_bits(copy, narrow(want)));
    kernel::sgd(stream, master.data(), g.data(), m.data(), copy.data(), n, {.1, .9, 0, 1, false});
    kernel::sgd(stream, want.data(), g.data(), want_m.data(), static_cast<float*>(nullptr), n,
                {.1, .9, 0, 1, false});
    CHECK(same_bits(master, want));
    CHECK(same_bits(copy, narrow(want)));
  });
}

TEST_CASE("mean squared error") {
  on_every_instruction_set([] {
    const int width = 19, n = rows * width;
    const Halves x = random(n, 1), target = random(n, 2), old = random(n, 3);
    Stream stream(2);
    Floats losses(rows), want_losses(rows);
    for (bool add : {false, true}) {
      Halves dx = old;
      Floats want = wide(old);
      kernel::mean_squared_error(stream, x.data(), target.data(), losses.data(), dx.data(), .01,
                                 rows, width, add);
      kernel::mean_squared_error(stream, wide(x).data(), wide(target).data(), want_losses.data(),
                                 want.data(), .01, rows, width, add);
      CHECK(same_bits(losses, want_losses));
      CHECK(same_bits(dx, narrow(want)));
    }
  });
}

}  // namespace

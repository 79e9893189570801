// Kernels with narrow elements compute in fp32 and round what they store: their results are, bit
// for bit, the rounded results of the fp32 kernels, which are checked against double precision.
#include "sinter/kernels/activation.hpp"
#include "sinter/kernels/attention.hpp"
#include "sinter/kernels/dropout.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/embedding.hpp"
#include "sinter/kernels/layer_norm.hpp"
#include "sinter/kernels/loss.hpp"
#include "sinter/kernels/matmul.hpp"
#include "sinter/kernels/norm.hpp"
#include "sinter/kernels/optimizer.hpp"
#include "sinter/kernels/pool.hpp"
#include "sinter/kernels/rms_norm.hpp"
#include "sinter/kernels/swiglu.hpp"

#include "kernels_narrow.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::testing;
using kernel::Stream;
using sinter::BFloat16;
using sinter::Float16;

namespace {

const std::vector<std::int32_t> starts{0, 5, 6, 23, 23, 60};
constexpr int sequences = 5, rows = 60;

TEST_CASE_TEMPLATE("cast", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    std::mt19937 engine(1);
    Floats x(1003);
    for (float& v : x) v = std::bit_cast<float>(std::uint32_t(engine()));
    x[0] = NAN, x[1] = INFINITY, x[2] = -INFINITY, x[3] = std::bit_cast<float>(0x7f800001u);
    Stream stream(2);
    Halves y(x.size());
    kernel::cast(stream, x.data(), y.data(), std::int64_t(x.size()));
    CHECK(same_bits(y, narrow<H>(x)));
    Floats back(y.size());
    kernel::cast(stream, y.data(), back.data(), std::int64_t(y.size()));
    CHECK(same_bits(back, wide(y)));
  });
}

TEST_CASE_TEMPLATE("elementwise", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    Stream stream(2);
    const int columns = 37, n = rows * columns;
    const Halves a = normal_values<H>(n, 1), b = normal_values<H>(n, 2);
    Halves y(n);
    Floats want(n);
    kernel::add(stream, a.data(), b.data(), y.data(), n);
    kernel::add(stream, wide(a).data(), wide(b).data(), want.data(), n);
    CHECK(same_bits(y, narrow<H>(want)));
    y = b;
    kernel::accumulate(stream, a.data(), y.data(), n);
    CHECK(same_bits(y, narrow<H>(want)));
    kernel::scale(stream, a.data(), .3f, y.data(), n);
    kernel::scale(stream, wide(a).data(), .3f, want.data(), n);
    CHECK(same_bits(y, narrow<H>(want)));
    kernel::fill(stream, y.data(), .1f, n);
    CHECK(same_bits(y, Halves(n, H(.1f))));
    for (bool add : {false, true}) {
      Floats sum(columns, .5f), same = sum;
      kernel::column_sum(stream, a.data(), sum.data(), rows, columns, add);
      kernel::column_sum(stream, wide(a).data(), same.data(), rows, columns, add);
      CHECK(same_bits(sum, same));
    }
  });
}

TEST_CASE_TEMPLATE("layer norm", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    for (int width : {1, 17, 48, 130}) {
      CAPTURE(width);
      Stream stream(2);
      const int n = rows * width;
      const Halves a = normal_values<H>(n, 1), b = normal_values<H>(n, 2),
                   dy = normal_values<H>(n, 3), dh = normal_values<H>(n, 4);
      const Halves weight = normal_values<H>(width, 5), bias = normal_values<H>(width, 6),
                   before = normal_values<H>(n, 7);
      Halves h(n), y(n);
      Floats mean(rows), inverse(rows), want(n), want_mean(rows), want_inverse(rows);
      kernel::add_layer_norm_forward(stream, a.data(), b.data(), weight.data(), bias.data(),
                                     h.data(), y.data(), mean.data(), inverse.data(), rows, width,
                                     1e-5);
      Floats sum(n);
      kernel::add(stream, wide(a).data(), wide(b).data(), sum.data(), n);
      CHECK(same_bits(h, narrow<H>(sum)));
      kernel::layer_norm_forward(stream, wide(h).data(), wide(weight).data(), wide(bias).data(),
                                 want.data(), want_mean.data(), want_inverse.data(), rows, width,
                                 1e-5);
      CHECK(same_bits(y, narrow<H>(want)));
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
        CHECK(same_bits(dx, narrow<H>(want_dx)));
        CHECK(same_bits(dx2, narrow<H>(want_dx2)));
        CHECK(same_bits(dw, want_dw));
        CHECK(same_bits(db, want_db));
      }
    }
  });
}

TEST_CASE_TEMPLATE("RMS norm", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    for (int width : {1, 17, 48, 130}) {
      CAPTURE(width);
      Stream stream(2);
      const int n = rows * width;
      const Halves a = normal_values<H>(n, 1), b = normal_values<H>(n, 2),
                   dy = normal_values<H>(n, 3), dh = normal_values<H>(n, 4);
      const Halves weight = normal_values<H>(width, 5), before = normal_values<H>(n, 6);
      Halves h(n), y(n);
      Floats inverse(rows), want(n), want_inverse(rows), sum(n);
      kernel::add_rms_norm_forward(stream, a.data(), b.data(), weight.data(), h.data(), y.data(),
                                   inverse.data(), rows, width, 1e-6);
      kernel::add(stream, wide(a).data(), wide(b).data(), sum.data(), n);
      CHECK(same_bits(h, narrow<H>(sum)));
      kernel::rms_norm_forward(stream, wide(h).data(), wide(weight).data(), want.data(),
                               want_inverse.data(), rows, width, 1e-6);
      CHECK(same_bits(y, narrow<H>(want)));
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
        CHECK(same_bits(dx, narrow<H>(want_dx)));
        CHECK(same_bits(dx2, narrow<H>(want_dx2)));
        CHECK(same_bits(dw, want_dw));
      }
    }
  });
}

TEST_CASE_TEMPLATE("activations", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    Stream stream(2);
    const int columns = 37, n = rows * columns;
    const Halves x = normal_values<H>(n, 1), dy = normal_values<H>(n, 2),
                 old = normal_values<H>(n, 4);
    for (auto f : {kernel::Activation::gelu_tanh, kernel::Activation::gelu_erf,
                   kernel::Activation::relu, kernel::Activation::silu}) {
      Halves y(n);
      Floats want(n);
      kernel::activation_forward(stream, f, x.data(), y.data(), n);
      kernel::activation_forward(stream, f, wide(x).data(), want.data(), n);
      CHECK(same_bits(y, narrow<H>(want)));
      for (bool add : {false, true}) {
        y = old, want = wide(old);
        kernel::activation_backward(stream, f, x.data(), dy.data(), y.data(), n, add);
        kernel::activation_backward(stream, f, wide(x).data(), wide(dy).data(), want.data(), n,
                                    add);
        CHECK(same_bits(y, narrow<H>(want)));
      }
    }
  });
}

TEST_CASE_TEMPLATE("SwiGLU", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    Stream stream(2);
    const int width = 37, n = rows * width;
    const Halves x = normal_values<H>(2 * n, 1), dy = normal_values<H>(n, 2),
                 old = normal_values<H>(2 * n, 3);
    Halves y(n);
    Floats want(n);
    kernel::swiglu_forward(stream, x.data(), y.data(), rows, width);
    kernel::swiglu_forward(stream, wide(x).data(), want.data(), rows, width);
    CHECK(same_bits(y, narrow<H>(want)));
    for (bool add : {false, true}) {
      y = old, want = wide(old);
      kernel::swiglu_backward(stream, x.data(), dy.data(), y.data(), rows, width, add);
      kernel::swiglu_backward(stream, wide(x).data(), wide(dy).data(), want.data(), rows, width,
                              add);
      CHECK(same_bits(y, narrow<H>(want)));
    }
  });
}

TEST_CASE_TEMPLATE("dropout, tables and the last rows", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    Stream stream(2);
    const int width = 37, n = rows * width, vocabulary = 11;
    const Halves x = normal_values<H>(n, 1), table = normal_values<H>(vocabulary * width, 2);
    const Halves positions = normal_values<H>(64 * width, 3), old = normal_values<H>(n, 4);
    std::vector<std::int32_t> ids(rows);
    for (int r = 0; r < rows; ++r) ids[r] = r * 7 % vocabulary;
    const kernel::Dropout dropout{.3f, 99, 5};
    Halves y(n);
    Floats want(n);
    kernel::dropout_forward(stream, x.data(), y.data(), rows, width, dropout);
    kernel::dropout_forward(stream, wide(x).data(), want.data(), rows, width, dropout);
    CHECK(same_bits(y, narrow<H>(want)));
    y = old, want = wide(old);
    kernel::dropout_backward(stream, x.data(), y.data(), rows, width, dropout, true);
    kernel::dropout_backward(stream, wide(x).data(), want.data(), rows, width, dropout, true);
    CHECK(same_bits(y, narrow<H>(want)));

    kernel::embedding_forward(stream, ids.data(), table.data(), y.data(), rows, width);
    kernel::embedding_forward(stream, ids.data(), wide(table).data(), want.data(), rows, width);
    CHECK(same_bits(y, narrow<H>(want)));
    kernel::position_forward(stream, x.data(), positions.data(), starts.data(), sequences, y.data(),
                             width);
    kernel::position_forward(stream, wide(x).data(), wide(positions).data(), starts.data(),
                             sequences, want.data(), width);
    CHECK(same_bits(y, narrow<H>(want)));
    for (bool add : {false, true}) {
      Floats sums(64 * width, .5f), same = sums;
      kernel::embedding_backward(stream, ids.data(), x.data(), sums.data(), rows, vocabulary, width,
                                 add, nullptr);
      kernel::embedding_backward(stream, ids.data(), wide(x).data(), same.data(), rows, vocabulary,
                                 width, add, nullptr);
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
      CHECK(same_bits(y, narrow<H>(want)));
    }
  });
}

TEST_CASE_TEMPLATE("attention", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    for (bool causal : {true, false})
      for (float probability : {0.f, .3f}) {
        CAPTURE(causal);
        CAPTURE(probability);
        const int heads = 3, width = 3 * 20;
        const kernel::Dropout dropout{probability, 7, 3};
        std::vector<std::int32_t> at{0, 1, 78, 78, 228};  // several blocks of keys and strips
        const int count = 4, n = at.back();
        const Halves qkv = normal_values<H>(n * 3 * width, 1), dy = normal_values<H>(n * width, 2);
        const Halves before = normal_values<H>(n * 3 * width, 3);
        Halves y(n * width);
        Floats log_sum(n * heads), want(n * width), want_sum(n * heads);
        Stream stream(2);
        kernel::attention_forward(stream, qkv.data(), y.data(), log_sum.data(), at.data(), count,
                                  heads, width, causal, dropout);
        kernel::attention_forward(stream, wide(qkv).data(), want.data(), want_sum.data(), at.data(),
                                  count, heads, width, causal, dropout);
        CHECK(same_bits(y, narrow<H>(want)));
        CHECK(same_bits(log_sum, want_sum));
        Floats scratch(kernel::attention_scratch<H>(n, width), NAN);
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
          CHECK((add ? nearly(got, same) : same_bits(got, narrow<H>(same))));
        }
      }
  });
}

TEST_CASE_TEMPLATE("matmul", H, BFloat16, Float16) {
  on_every_instruction_set([] {
    check_matmuls<H, H>(kernel::Gemm::tiles);
    check_matmuls<H, float>(kernel::Gemm::tiles);
  });
}

TEST_CASE_TEMPLATE("matmul of wide strides", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  Stream stream(2);
  const int m = 20, n = 30, k = 40;
  const Halves a = normal_values<H>(m * 2 * k, 1), b = normal_values<H>(k * n, 2);
  Halves dense_a(m * k);
  for (int i = 0; i < m; ++i) std::copy_n(a.begin() + i * 2 * k, k, dense_a.begin() + i * k);
  Floats c(m * n), want(m * n);
  kernel::matmul(stream, kernel::Matrix<const H>{a.data(), m, k, 2 * k},
                 kernel::dense(b.data(), k, n), kernel::dense(c.data(), m, n), false);
  kernel::matmul(stream, kernel::dense(dense_a.data(), m, k), kernel::dense(b.data(), k, n),
                 kernel::dense(want.data(), m, n), false);
  CHECK(same_bits(c, want));
}

TEST_CASE_TEMPLATE("cross-entropy of logits that are not stored", H, BFloat16, Float16) {
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
    kernel::linear_cross_entropy(stream, x.data(), table.data(), targets.data(), losses.data(),
                                 dx.data(), false, dtable.data(), true, weight, scratch.data(),
                                 rows, width, vocabulary, 16);
    kernel::linear_cross_entropy(stream, wide(x).data(), wide(table).data(), targets.data(),
                                 want_losses.data(), want_dx.data(), false, want_dtable.data(),
                                 true, weight, scratch.data(), rows, width, vocabulary, 16);
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

TEST_CASE_TEMPLATE("optimizers make the copy of the weights that they update", H, BFloat16,
                   Float16) {
  using Halves = std::vector<H>;
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
    CHECK(same_bits(copy, narrow<H>(want)));
    kernel::sgd(stream, master.data(), g.data(), m.data(), copy.data(), n, {.1, .9, 0, 1, false});
    kernel::sgd(stream, want.data(), g.data(), want_m.data(), static_cast<float*>(nullptr), n,
                {.1, .9, 0, 1, false});
    CHECK(same_bits(master, want));
    CHECK(same_bits(copy, narrow<H>(want)));
    kernel::lion(stream, master.data(), g.data(), m.data(), copy.data(), n, {.1, .9, .99, 0, 1});
    kernel::lion(stream, want.data(), g.data(), want_m.data(), static_cast<float*>(nullptr), n,
                 {.1, .9, .99, 0, 1});
    CHECK(same_bits(master, want));
    CHECK(same_bits(copy, narrow<H>(want)));
  });
}

TEST_CASE_TEMPLATE("mean squared error", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    const int width = 19, n = rows * width;
    const Halves x = normal_values<H>(n, 1), target = normal_values<H>(n, 2),
                 old = normal_values<H>(n, 3);
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
      CHECK(same_bits(dx, narrow<H>(want)));
    }
  });
}

// ---- gradients of parameters in the type of the elements: those in fp32, rounded once

TEST_CASE_TEMPLATE("narrow gradients of norms and of biases", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    for (int width : {1, 37, 1100}) {
      CAPTURE(width);
      const int n = rows * width;
      const Halves x = normal_values<H>(n, 1), dy = normal_values<H>(n, 2);
      const Halves weight = normal_values<H>(width, 3), before = normal_values<H>(2 * width, 4);
      Floats mean = normal_values<float>(rows, 5), inverse = normal_values<float>(rows, 6);
      Floats scratch(kernel::layer_norm_scratch(width));
      H* none = nullptr;
      for (bool add : {false, true}) {
        auto gradients = [&]<class G>(std::vector<G> sums, auto compute) {
          return same_on_all_threads([&](Stream& s) {
            auto result = sums;
            compute(s, result.data(), result.data() + width);
            return result;
          });
        };
        auto check = [&](auto compute) {
          const Floats want = gradients(wide(before), compute);
          CHECK(same_bits(gradients(before, compute), narrow<H>(want)));
        };
        check([&](Stream& s, auto* dw, auto* db) {
          kernel::layer_norm_backward(s, x.data(), weight.data(), mean.data(), inverse.data(),
                                      dy.data(), none, none, none, false, false, dw, db, add, rows,
                                      width, scratch.data());
        });
        check([&](Stream& s, auto* dw, auto*) {
          kernel::rms_norm_backward(s, x.data(), weight.data(), inverse.data(), dy.data(), none,
                                    none, none, false, false, dw, add, rows, width, scratch.data());
        });
        check([&](Stream& s, auto* db, auto*) {
          kernel::column_sum(s, dy.data(), db, rows, width, add);
        });
      }
    }
  });
}

TEST_CASE_TEMPLATE("narrow gradients of tables", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    for (int width : {1, 37, 1100}) {
      CAPTURE(width);
      const int vocabulary = 11;
      const Halves dy = normal_values<H>(rows * width, 1);
      const Halves before = normal_values<H>(64 * width, 2);
      std::vector<std::int32_t> ids(rows);
      for (int r = 0; r < rows; ++r) ids[r] = r * r % vocabulary;  // some never
      for (bool add : {false, true}) {
        auto tokens = [&]<class G>(std::vector<G> sums) {
          return same_on_all_threads([&](Stream& s) {
            auto result = sums;
            std::vector<std::int32_t> scratch(kernel::embedding_scratch<G>(rows, vocabulary));
            kernel::embedding_backward(s, ids.data(), dy.data(), result.data(), rows, vocabulary,
                                       width, add, scratch.data());
            return result;
          });
        };
        auto positions = [&]<class G>(std::vector<G> sums) {
          return same_on_all_threads([&](Stream& s) {
            auto result = sums;
            kernel::position_backward(s, dy.data(), starts.data(), sequences, result.data(), 64,
                                      width, add);
            return result;
          });
        };
        CHECK(same_bits(tokens(before), narrow<H>(tokens(wide(before)))));
        CHECK(same_bits(positions(before), narrow<H>(positions(wide(before)))));
      }
    }
  });
}

TEST_CASE_TEMPLATE("narrow gradients of the table of logits", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  const int width = 24, vocabulary = 77;
  const Halves x = normal_values<H>(rows * width, 1),
               table = normal_values<H>(vocabulary * width, 2);
  const Halves before = normal_values<H>(vocabulary * width, 3);
  std::vector<std::int32_t> targets(rows);
  for (int r = 0; r < rows; ++r) targets[r] = r * 5 % vocabulary;
  for (bool add : {false, true}) {
    auto gradient = [&]<class G>(std::vector<G> dtable) {
      Stream stream(2);
      Floats losses(rows), scratch(rows * vocabulary);
      kernel::linear_cross_entropy(stream, x.data(), table.data(), targets.data(), losses.data(),
                                   static_cast<H*>(nullptr), false, dtable.data(), add, .5,
                                   scratch.data(), rows, width, vocabulary, rows);
      return dtable;
    };
    CHECK(nearly(gradient(before), gradient(wide(before))));
  }
}

TEST_CASE_TEMPLATE("sums of narrow numbers", H, BFloat16, Float16) {
  on_every_instruction_set([] {
    for (std::int64_t n : {0, 1, 3, 17, 4097, 100000}) {
      const std::vector<H> x = normal_values<H>(n, 1);
      auto sums = [n](const auto& values) {
        return same_on_all_threads([&](Stream& s) {
          return std::vector<double>{kernel::sum_of_squares(s, values.data(), n),
                                     kernel::sum(s, values.data(), n)};
        });
      };
      CHECK(same_bits(sums(x), sums(wide(x))));
    }
    Stream stream(2);
    std::vector<H> large(5000, H(65000.f));
    CHECK(kernel::sum_of_squares(stream, large.data(), 5000) > 2e13);  // beyond H, in range
    large[4999] = H(INFINITY);
    CHECK(kernel::sum_of_squares(stream, large.data(), 5000) == INFINITY);
    large[17] = H(NAN);
    CHECK(std::isnan(kernel::sum_of_squares(stream, large.data(), 5000)));
  });
}

TEST_CASE("gradients in half precision are those of fp32") {
  on_every_instruction_set([] {
    Stream stream(2);
    const int n = 1003;
    const auto g = normal_values<Float16>(n, 1);
    const Floats g_wide = wide(g), start = normal_values<float>(n, 2);
    Floats p = start, want = start, m(n, .1f), v(n, .2f), want_m = m, want_v = v;
    std::vector<Float16> copy(n), want_copy(n);
    const kernel::AdamWStep step{.01, .9, .999, 1e-8, .1, .7, .1, .001};
    kernel::adamw(stream, p.data(), g.data(), m.data(), v.data(), copy.data(), n, step);
    kernel::adamw(stream, want.data(), g_wide.data(), want_m.data(), want_v.data(),
                  want_copy.data(), n, step);
    CHECK(same_bits(p, want));
    CHECK(same_bits(copy, want_copy));
  });
}

/// With masters and gradients in Float16 and states in fp32, an update is that of fp32, rounded.
TEST_CASE("optimizers of masters in half precision") {
  on_every_instruction_set([] {
    const int n = 1003;
    const auto start = normal_values<Float16>(n, 1);
    auto follow = [&](auto update) {
      auto half = start;
      Floats m(n), v(n), want_m(n), want_v(n);
      for (int t = 1; t <= 20; ++t) {
        Stream stream(2);
        const auto g = normal_values<Float16>(n, 10 + t);
        Floats single = wide(half), g_single = wide(g);
        std::vector<Float16> copy(n);
        update(stream, t, half.data(), g.data(), m.data(), v.data(), copy.data());
        update(stream, t, single.data(), g_single.data(), want_m.data(), want_v.data(),
               static_cast<float*>(nullptr));
        CHECK(same_bits(half, narrow<Float16>(single)));
        CHECK(same_bits(copy, half));
        CHECK(same_bits(m, want_m));
        CHECK(same_bits(v, want_v));
      }
      CHECK(!same_bits(half, start));
    };
    follow([](Stream& s, int t, auto* p, auto* g, float* m, float* v, auto* copy) {
      kernel::adamw(
          s, p, g, m, v, copy, n,
          {.01, .9, .999, 1e-8, .1, .7, 1 - std::pow(.9, t), 1 - std::pow(.999, t), 1, t % 2 == 0});
    });
    follow([](Stream& s, int t, auto* p, auto* g, float* m, float*, auto* copy) {
      kernel::sgd(s, p, g, m, copy, n, {.1, .9, .1, .7, t == 1, 1, t % 2 == 0});
    });
    follow([](Stream& s, int, auto* p, auto* g, float* m, float*, auto* copy) {
      kernel::lion(s, p, g, m, copy, n, {.01, .9, .99, .1, .7, 1});
    });
  });
}

}  // namespace

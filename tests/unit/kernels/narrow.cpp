// Kernels with narrow elements compute in fp32 and round what they store: their results are, bit
// for bit, the rounded results of the fp32 kernels, which are checked against double precision.
#include "sinter/kernels/activation.hpp"
#include "sinter/kernels/dropout.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/embedding.hpp"
#include "sinter/kernels/layer_norm.hpp"
#include "sinter/kernels/loss.hpp"
#include "sinter/kernels/pool.hpp"
#include "sinter/kernels/rms_norm.hpp"
#include "sinter/kernels/swiglu.hpp"

#include "unit/kernels/narrow.hpp"

namespace sinter::testing {
namespace {

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

}  // namespace
}  // namespace sinter::testing

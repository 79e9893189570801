// SPDX-License-Identifier: Apache-2.0
// Kernels with narrow elements compute in fp32 and round what they store: their results are, bit
// for bit, the rounded results of the fp32 kernels, which are checked against double precision.
#include "sinter/kernels/activation.hpp"
#include "sinter/kernels/columns.hpp"
#include "sinter/kernels/dropout.hpp"
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/embedding.hpp"
#include "sinter/kernels/loss.hpp"
#include "sinter/kernels/normalize.hpp"
#include "sinter/kernels/pool.hpp"
#include "sinter/kernels/rotary.hpp"
#include "sinter/kernels/swiglu.hpp"

#include "unit/kernels/narrow.hpp"

namespace sinter::detail::testing {
namespace {

TEST_CASE_TEMPLATE("narrow results are those of fp32, rounded: cast", H, BFloat16, Float16) {
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

TEST_CASE_TEMPLATE("narrow results are those of fp32, rounded: elementwise", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    Stream stream(2);
    const int columns = 37, n = rows * columns;
    const Halves a = normal_values<H>(n, 1), b = normal_values<H>(n, 2);
    Halves y(n);
    Floats want(n);
    kernel::add(stream, tensor(a, 1, n), tensor(b, 1, n), tensor(y, 1, n));
    kernel::add(stream, tensor(wide(a), 1, n), tensor(wide(b), 1, n), tensor(want, 1, n));
    CHECK(same_bits(y, narrow<H>(want)));
    y = b;
    kernel::accumulate(stream, a.data(), y.data(), n);
    CHECK(same_bits(y, narrow<H>(want)));
    kernel::scale(stream, a.data(), .3f, y.data(), n);
    kernel::scale(stream, wide(a).data(), .3f, want.data(), n);
    CHECK(same_bits(y, narrow<H>(want)));
    kernel::scale(stream, tensor(a, 1, n), .3f, tensor(y, 1, n, true));
    want = wide(narrow<H>(want));
    kernel::scale(stream, tensor(wide(a), 1, n), .3f, tensor(want, 1, n, true));
    CHECK(same_bits(y, narrow<H>(want)));
    kernel::fill(stream, y.data(), .1f, n);
    CHECK(same_bits(y, Halves(n, H(.1f))));
    for (bool add : {false, true}) {
      Floats sum(columns, .5f), same = sum;
      kernel::column_sum(stream, tensor(a, rows, columns), tensor(sum, 1, columns, add));
      kernel::column_sum(stream, tensor(wide(a), rows, columns), tensor(same, 1, columns, add));
      CHECK(same_bits(sum, same));
    }
  });
}

TEST_CASE_TEMPLATE("narrow results are those of fp32, rounded: layer norm", H, BFloat16, Float16) {
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
      kernel::add_normalize_forward(stream, tensor(a, rows, width), tensor(b, rows, width),
                                    tensor(weight, 1, width), tensor(bias, 1, width),
                                    tensor(h, rows, width), tensor(y, rows, width),
                                    tensor(mean, rows, 1), tensor(inverse, rows, 1), 1e-5);
      Floats sum(n);
      kernel::add(stream, tensor(wide(a), 1, n), tensor(wide(b), 1, n), tensor(sum, 1, n));
      CHECK(same_bits(h, narrow<H>(sum)));
      kernel::normalize_forward(stream, tensor(wide(h), rows, width),
                                tensor(wide(weight), 1, width), tensor(wide(bias), 1, width),
                                tensor(want, rows, width), tensor(want_mean, rows, 1),
                                tensor(want_inverse, rows, 1), 1e-5);
      CHECK(same_bits(y, narrow<H>(want)));
      CHECK(same_bits(mean, want_mean));
      CHECK(same_bits(inverse, want_inverse));
      Floats scratch(kernel::normalize_scratch(2, width));
      for (bool add : {false, true}) {
        Halves dx = before, dx2 = before;
        Floats dw(width, .5f), db(width, .25f), want_dw = dw, want_db = db;
        Floats want_dx = wide(before), want_dx2 = wide(before);
        kernel::normalize_backward(
            stream, tensor(h, rows, width), tensor(weight, 1, width), tensor(mean, rows, 1),
            tensor(inverse, rows, 1), tensor(dy, rows, width), tensor(dh, rows, width),
            tensor(dx, rows, width, add), tensor(dx2, rows, width, !add), tensor(dw, 1, width, add),
            tensor(db, 1, width, add), scratch.data());
        kernel::normalize_backward(
            stream, tensor(wide(h), rows, width), tensor(wide(weight), 1, width),
            tensor(mean, rows, 1), tensor(inverse, rows, 1), tensor(wide(dy), rows, width),
            tensor(wide(dh), rows, width), tensor(want_dx, rows, width, add),
            tensor(want_dx2, rows, width, !add), tensor(want_dw, 1, width, add),
            tensor(want_db, 1, width, add), scratch.data());
        CHECK(same_bits(dx, narrow<H>(want_dx)));
        CHECK(same_bits(dx2, narrow<H>(want_dx2)));
        CHECK(same_bits(dw, want_dw));
        CHECK(same_bits(db, want_db));
      }
    }
  });
}

TEST_CASE_TEMPLATE("narrow results are those of fp32, rounded: RMS norm", H, BFloat16, Float16) {
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
      kernel::add_normalize_forward(stream, tensor(a, rows, width), tensor(b, rows, width),
                                    tensor(weight, 1, width), {}, tensor(h, rows, width),
                                    tensor(y, rows, width), {}, tensor(inverse, rows, 1), 1e-6);
      kernel::add(stream, tensor(wide(a), 1, n), tensor(wide(b), 1, n), tensor(sum, 1, n));
      CHECK(same_bits(h, narrow<H>(sum)));
      kernel::normalize_forward(stream, tensor(wide(h), rows, width),
                                tensor(wide(weight), 1, width), {}, tensor(want, rows, width), {},
                                tensor(want_inverse, rows, 1), 1e-6);
      CHECK(same_bits(y, narrow<H>(want)));
      CHECK(same_bits(inverse, want_inverse));
      Floats scratch(kernel::normalize_scratch(1, width));
      for (bool add : {false, true}) {
        Halves dx = before, dx2 = before;
        Floats dw(width, .5f), want_dw = dw, want_dx = wide(before), want_dx2 = wide(before);
        kernel::normalize_backward(
            stream, tensor(h, rows, width), tensor(weight, 1, width), {}, tensor(inverse, rows, 1),
            tensor(dy, rows, width), tensor(dh, rows, width), tensor(dx, rows, width, add),
            tensor(dx2, rows, width, !add), tensor(dw, 1, width, add), {}, scratch.data());
        kernel::normalize_backward(
            stream, tensor(wide(h), rows, width), tensor(wide(weight), 1, width), {},
            tensor(inverse, rows, 1), tensor(wide(dy), rows, width), tensor(wide(dh), rows, width),
            tensor(want_dx, rows, width, add), tensor(want_dx2, rows, width, !add),
            tensor(want_dw, 1, width, add), {}, scratch.data());
        CHECK(same_bits(dx, narrow<H>(want_dx)));
        CHECK(same_bits(dx2, narrow<H>(want_dx2)));
        CHECK(same_bits(dw, want_dw));
      }
    }
  });
}

TEST_CASE_TEMPLATE("narrow results are those of fp32, rounded: activations", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    Stream stream(2);
    const int columns = 37, n = rows * columns;
    const Halves x = normal_values<H>(n, 1), dy = normal_values<H>(n, 2),
                 old = normal_values<H>(n, 4);
    for (auto f : {kernel::Activation::gelu_tanh, kernel::Activation::gelu_erf,
                   kernel::Activation::relu, kernel::Activation::silu, kernel::Activation::tanh}) {
      Halves y(n);
      Floats want(n);
      kernel::activation_forward(stream, f, tensor(x, 1, n), tensor(y, 1, n));
      kernel::activation_forward(stream, f, tensor(wide(x), 1, n), tensor(want, 1, n));
      CHECK(same_bits(y, narrow<H>(want)));
      for (bool add : {false, true}) {
        y = old, want = wide(old);
        kernel::activation_backward(stream, f, tensor(x, 1, n), tensor(dy, 1, n),
                                    tensor(y, 1, n, add));
        kernel::activation_backward(stream, f, tensor(wide(x), 1, n), tensor(wide(dy), 1, n),
                                    tensor(want, 1, n, add));
        CHECK(same_bits(y, narrow<H>(want)));
      }
    }
  });
}

TEST_CASE_TEMPLATE("narrow results are those of fp32, rounded: SwiGLU", H, BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    Stream stream(2);
    const int width = 37, n = rows * width;
    const Halves x = normal_values<H>(2 * n, 1), dy = normal_values<H>(n, 2),
                 old = normal_values<H>(2 * n, 3);
    Halves y(n);
    Floats want(n);
    kernel::swiglu_forward(stream, tensor(x, rows, 2 * width), tensor(y, rows, width));
    kernel::swiglu_forward(stream, tensor(wide(x), rows, 2 * width), tensor(want, rows, width));
    CHECK(same_bits(y, narrow<H>(want)));
    for (bool add : {false, true}) {
      y = old, want = wide(old);
      kernel::swiglu_backward(stream, tensor(x, rows, 2 * width), tensor(dy, rows, width),
                              tensor(y, rows, 2 * width, add));
      kernel::swiglu_backward(stream, tensor(wide(x), rows, 2 * width),
                              tensor(wide(dy), rows, width), tensor(want, rows, 2 * width, add));
      CHECK(same_bits(y, narrow<H>(want)));
    }
  });
}

TEST_CASE_TEMPLATE("narrow results are those of fp32, rounded: SwiGLU of two operands", H, BFloat16,
                   Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    Stream stream(2);
    const int width = 37, n = rows * width;
    const Halves gate = normal_values<H>(n, 1), up = normal_values<H>(n, 2),
                 dy = normal_values<H>(n, 3), old = normal_values<H>(n, 4);
    auto matrix = [&](auto&& of, bool add = false) { return tensor(of, rows, width, add); };
    Halves y(n);
    Floats want(n);
    kernel::swiglu_forward(stream, matrix(gate), matrix(up), matrix(y));
    kernel::swiglu_forward(stream, matrix(wide(gate)), matrix(wide(up)), matrix(want));
    CHECK(same_bits(y, narrow<H>(want)));
    for (bool add : {false, true}) {
      Halves dgate = old, dup = old;
      Floats want_gate = wide(old), want_up = wide(old);
      kernel::swiglu_backward(stream, matrix(gate), matrix(up), matrix(dy), matrix(dgate, add),
                              matrix(dup, !add));
      kernel::swiglu_backward(stream, matrix(wide(gate)), matrix(wide(up)), matrix(wide(dy)),
                              matrix(want_gate, add), matrix(want_up, !add));
      CHECK(same_bits(dgate, narrow<H>(want_gate)));
      CHECK(same_bits(dup, narrow<H>(want_up)));
    }
  });
}

TEST_CASE_TEMPLATE("narrow results are those of fp32, rounded: rotary positions", H, BFloat16,
                   Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    const int depth = 14, q = 2 * depth, k = depth, columns = q + 2 * k;
    const kernel::Sequences at = sequences_of(starts);
    const Halves x = normal_values<H>(rows * q, 1), keys = normal_values<H>(rows * k, 2),
                 values = normal_values<H>(rows * k, 3), dy = normal_values<H>(rows * columns, 4);
    Stream stream(2);
    Floats memory(rows * depth);
    const auto table = tensor(memory, rows, depth);
    kernel::rotary_table(stream, {}, at, table);
    Halves sum(rows * depth);
    Floats want_sum(rows * depth);
    kernel::add_sinusoids(stream, tensor(values, rows, depth), table, at, tensor(sum, rows, depth));
    kernel::add_sinusoids(stream, tensor(wide(values), rows, depth), table, at,
                          tensor(want_sum, rows, depth));
    CHECK(same_bits(sum, narrow<H>(want_sum)));
    Halves y(rows * columns);
    Floats want(rows * columns);
    kernel::rotary_forward(stream, tensor(x, rows, q), tensor(keys, rows, k),
                           tensor(values, rows, k), table, at, tensor(y, rows, columns));
    kernel::rotary_forward(stream, tensor(wide(x), rows, q), tensor(wide(keys), rows, k),
                           tensor(wide(values), rows, k), table, at, tensor(want, rows, columns));
    CHECK(same_bits(y, narrow<H>(want)));
    for (bool add : {false, true}) {
      Halves dx = x, dkeys = keys, dvalues = values;
      Floats want_x = wide(x), want_keys = wide(keys), want_values = wide(values);
      kernel::rotary_backward(stream, tensor(dy, rows, columns), q, k, table, at,
                              tensor(dx, rows, q, add), tensor(dkeys, rows, k, !add),
                              tensor(dvalues, rows, k, add));
      kernel::rotary_backward(stream, tensor(wide(dy), rows, columns), q, k, table, at,
                              tensor(want_x, rows, q, add), tensor(want_keys, rows, k, !add),
                              tensor(want_values, rows, k, add));
      CHECK(same_bits(dx, narrow<H>(want_x)));
      CHECK(same_bits(dkeys, narrow<H>(want_keys)));
      CHECK(same_bits(dvalues, narrow<H>(want_values)));
    }
  });
}

TEST_CASE_TEMPLATE(
    "narrow results are those of fp32, rounded: dropout, tables, columns, first and last rows", H,
    BFloat16, Float16) {
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
    kernel::dropout(stream, tensor(x, rows, width), tensor(y, rows, width), dropout);
    kernel::dropout(stream, tensor(wide(x), rows, width), tensor(want, rows, width), dropout);
    CHECK(same_bits(y, narrow<H>(want)));
    y = old, want = wide(old);
    kernel::dropout(stream, tensor(x, rows, width), tensor(y, rows, width, true), dropout);
    kernel::dropout(stream, tensor(wide(x), rows, width), tensor(want, rows, width, true), dropout);
    CHECK(same_bits(y, narrow<H>(want)));

    kernel::embedding_forward(stream, tensor(ids, rows, 1), tensor(table, vocabulary, width),
                              tensor(y, rows, width));
    kernel::embedding_forward(stream, tensor(ids, rows, 1), tensor(wide(table), vocabulary, width),
                              tensor(want, rows, width));
    CHECK(same_bits(y, narrow<H>(want)));
    kernel::add_embedding_forward(stream, tensor(x, rows, width), tensor(ids, rows, 1),
                                  tensor(table, vocabulary, width), tensor(y, rows, width));
    kernel::add_embedding_forward(stream, tensor(wide(x), rows, width), tensor(ids, rows, 1),
                                  tensor(wide(table), vocabulary, width),
                                  tensor(want, rows, width));
    CHECK(same_bits(y, narrow<H>(want)));
    kernel::position_forward(stream, tensor(x, rows, width), tensor(positions, 64, width),
                             sequences_of(starts), tensor(y, rows, width));
    kernel::position_forward(stream, tensor(wide(x), rows, width),
                             tensor(wide(positions), 64, width), sequences_of(starts),
                             tensor(want, rows, width));
    CHECK(same_bits(y, narrow<H>(want)));
    for (bool add : {false, true}) {
      Floats sums(64 * width, .5f), same = sums;
      kernel::embedding_backward(stream, tensor(ids, rows, 1), tensor(x, rows, width),
                                 tensor(sums, vocabulary, width, add), nullptr);
      kernel::embedding_backward(stream, tensor(ids, rows, 1), tensor(wide(x), rows, width),
                                 tensor(same, vocabulary, width, add), nullptr);
      CHECK(same_bits(sums, same));
      kernel::position_backward(stream, tensor(x, rows, width), sequences_of(starts),
                                tensor(sums, 64, width, add));
      kernel::position_backward(stream, tensor(wide(x), rows, width), sequences_of(starts),
                                tensor(same, 64, width, add));
      CHECK(same_bits(sums, same));
      const std::vector<std::int32_t> full{0, 5, 6, 23, 60};
      y = old, want = wide(old);
      kernel::last_rows_backward(stream, tensor(x, 4, width), {full.data(), 4, rows},
                                 tensor(y, rows, width, add));
      kernel::last_rows_backward(stream, tensor(wide(x), 4, width), {full.data(), 4, rows},
                                 tensor(want, rows, width, add));
      CHECK(same_bits(y, narrow<H>(want)));
      y = old, want = wide(old);
      kernel::first_rows_backward(stream, tensor(x, 4, width), {full.data(), 4, rows},
                                  tensor(y, rows, width, add));
      kernel::first_rows_backward(stream, tensor(wide(x), 4, width), {full.data(), 4, rows},
                                  tensor(want, rows, width, add));
      CHECK(same_bits(y, narrow<H>(want)));
      y = old, want = wide(old);
      kernel::take_columns(stream, tensor(x, rows, width), 3, tensor(y, rows, width - 5, add));
      kernel::take_columns(stream, tensor(wide(x), rows, width), 3,
                           tensor(want, rows, width - 5, add));
      CHECK(same_bits(y, narrow<H>(want)));
    }
  });
}

TEST_CASE_TEMPLATE("narrow results are those of fp32, rounded: cross-entropy of logits", H,
                   BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    for (int classes : {1, 10, 37}) {
      CAPTURE(classes);
      const int n = rows * classes;
      const Halves logits = normal_values<H>(n, 1), old = normal_values<H>(n, 2);
      std::vector<std::int32_t> ids(rows);
      for (int r = 0; r < rows; ++r) ids[r] = r % 5 == 3 ? -1 : r * 7 % classes;
      Stream stream(2);
      Floats losses(rows), want_losses(rows);
      Floats weights(std::size_t(classes), .5f);
      weights[0] = 2;
      kernel::LossOptions<float> with;
      auto both = [&](bool add, Halves& dlogits, Floats& want) {
        kernel::cross_entropy(stream, tensor(logits, rows, classes), tensor(ids, rows, 1),
                              tensor(losses, rows, 1), tensor(dlogits, rows, classes, add), .1,
                              with);
        kernel::cross_entropy(stream, tensor(wide(logits), rows, classes), tensor(ids, rows, 1),
                              tensor(want_losses, rows, 1), tensor(want, rows, classes, add), .1,
                              with);
        CHECK(same_bits(losses, want_losses));
        // At the targets fp32 may round once less than there, which can turn one rounding to H.
        for (int r = 0; r < rows; ++r)
          if (ids[r] >= 0) {
            const int at = r * classes + ids[r];
            const float cancelled = with.reshapes() ? 1e-7f : 0;  // of parts that add to about 0
            CHECK(std::abs(float(dlogits[at]) - want[at]) <= std::abs(want[at]) / 128 + cancelled);
            dlogits[at] = H(want[at]);
          }
        CHECK(same_bits(dlogits, narrow<H>(want)));
      };
      for (bool smooths : {false, true})
        for (bool add : {false, true}) {
          if (smooths) with = {.2, weights.data(), 1.5 + .5 * classes};
          Halves dlogits = old;
          Floats want = wide(old);
          both(add, dlogits, want);
        }
      Halves in_place = logits, apart(n);
      kernel::cross_entropy(stream, tensor(in_place, rows, classes), tensor(ids, rows, 1),
                            tensor(losses, rows, 1), tensor(in_place, rows, classes), .1, with);
      kernel::cross_entropy(stream, tensor(logits, rows, classes), tensor(ids, rows, 1),
                            tensor(losses, rows, 1), tensor(apart, rows, classes), .1, with);
      CHECK(same_bits(in_place, apart));
    }
  });
}

TEST_CASE_TEMPLATE("narrow results are those of fp32, rounded: mean squared error", H, BFloat16,
                   Float16) {
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
      kernel::mean_squared_error(stream, tensor(x, rows, width), tensor(target, rows, width),
                                 tensor(losses, rows, 1), tensor(dx, rows, width, add), .01);
      kernel::mean_squared_error(stream, tensor(wide(x), rows, width),
                                 tensor(wide(target), rows, width), tensor(want_losses, rows, 1),
                                 tensor(want, rows, width, add), .01);
      CHECK(same_bits(losses, want_losses));
      CHECK(same_bits(dx, narrow<H>(want)));
    }
  });
}

}  // namespace
}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
// Attention whose rows see a window.
#include <climits>

#include "unit/kernels/attention.hpp"

namespace sinter::detail::testing {
namespace {

constexpr AttentionSpan window(int rows) { return {.causal = true, .window = rows}; }

TEST_CASE_TEMPLATE("attention in a window equals its definition, both directions", T, float,
                   double) {
  on_every_instruction_set([] {
    for (int rows : {1, 2, 7, 40, 64, 100}) {
      check<T>({0}, 2, 16, window(rows));
      check<T>({0, 1}, 1, 1, window(rows));
      check<T>({0, 3}, 2, 5, window(rows));
      check<T>({0, 64, 128}, 4, 16, window(rows));
      check<T>({0, 97, 200}, 1, 48, window(rows));
      check<T>({0, 1, 1, 34, 99, 100}, 2, 24, window(rows));
    }
  });
}

TEST_CASE_TEMPLATE("attention in a window equals its definition if heads share keys and values", T,
                   float, double) {
  on_every_instruction_set([] {
    for (int rows : {1, 7, 70}) {
      check<T>({0, 64, 130}, 6, 16, window(rows), {}, 2);
      check<T>({0, 1, 1, 34, 99, 100}, 4, 24, window(rows), {}, 1);
    }
  });
}

// check() reads the mask off attention to whole sequences.
TEST_CASE_TEMPLATE("dropout in a window drops what it drops without a window", T, float, double) {
  on_every_instruction_set([] {
    for (int rows : {1, 5, 40}) check<T>({0, 33, 34, 100}, 4, 70, window(rows), {0.1f, 8, 1000}, 2);
  });
}

TEST_CASE_TEMPLATE("attention over sequences of many windows equals its definition", T, float,
                   double) {
  check<T>({0, 700, 1300}, 2, 20, window(150));
}

constexpr int heads = 2, width = 40;

/// Both directions on one sequence.
template <class T>
struct Passes {
  int rows;
  std::vector<T> qkv, dy, y, log_sum, dqkv;

  explicit Passes(int length)
      : rows(length),
        qkv(normal_values<T>(rows * 3 * width, 1)),
        dy(normal_values<T>(rows * width, 2)),
        y(dy.size()),
        log_sum(rows * heads),
        dqkv(qkv.size()) {}

  /// Fills rows [first, last) of what is given with NaN.
  void spoil(int first, int last) {
    std::fill(qkv.begin() + first * 3 * width, qkv.begin() + last * 3 * width, T(NAN));
    std::fill(dy.begin() + first * width, dy.begin() + last * width, T(NAN));
  }
  void run(AttentionSpan span) {
    Stream stream(2);
    const Starts starts{0, rows};
    kernel::attention_forward(stream, tensor(qkv, rows, 3 * width), tensor(y, rows, width),
                              tensor(log_sum, rows, heads), sequences_of(starts), span);
    kernel::attention_backward(stream, tensor(qkv, rows, 3 * width), tensor(y, rows, width),
                               tensor(dy, rows, width), tensor(log_sum, rows, heads),
                               tensor(dqkv, rows, 3 * width), sequences_of(starts), span,
                               static_cast<T*>(nullptr));
  }
  /// Whether rows [first, last) of all results are finite.
  bool finite(int first, int last) const {
    auto finite_in = [&](const std::vector<T>& results, int columns) {
      return std::all_of(results.begin() + first * columns, results.begin() + last * columns,
                         [](T x) { return std::isfinite(x); });
    };
    return finite_in(y, width) && finite_in(log_sum, heads) && finite_in(dqkv, 3 * width);
  }
};

TEST_CASE_TEMPLATE("a window as long as the sequence changes no bit", T, float, double) {
  on_every_instruction_set([] {
    for (int length : {1, 20, 150}) {
      CAPTURE(length);
      Passes<T> without(length);
      without.run({.causal = true});
      for (int rows : {length, length + 1, INT_MAX}) {
        CAPTURE(rows);
        Passes<T> with(length);
        with.run(window(rows));
        CHECK(same_bits(with.y, without.y));
        CHECK(same_bits(with.log_sum, without.log_sum));
        CHECK(same_bits(with.dqkv, without.dqkv));
      }
    }
  });
}

TEST_CASE_TEMPLATE("a NaN reaches all in whose window it is", T, float, double) {
  on_every_instruction_set([] {
    Passes<T> passes(100);
    for (int h = 0; h < heads; ++h)
      passes.qkv[20 * 3 * width + width + h * width / heads] = T(NAN);  // keys
    passes.run(window(10));
    for (int r = 0; r < passes.rows; ++r)
      for (int c = 0; c < width; ++c)
        CHECK(std::isnan(passes.y[r * width + c]) == (r >= 20 && r < 30));
  });
}

// A product with zero would be NaN: what is finite was not computed of it.
TEST_CASE_TEMPLATE("keys far outside of a window are not read, in both directions", T, float,
                   double) {
  on_every_instruction_set([] {
    Passes<T> late(600);
    late.spoil(0, 300);
    late.run(window(20));
    CHECK(late.finite(400, 600));
    CHECK_FALSE(late.finite(300, 400));
    Passes<T> early(600);
    early.spoil(300, 600);
    early.run(window(20));
    CHECK(early.finite(0, 200));
    CHECK_FALSE(early.finite(200, 300));
  });
}

}  // namespace
}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
// Gradients of parameters in narrow elements are those in fp32, rounded once; optimizers take them,
// and update narrow masters, as in fp32.
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/embedding.hpp"
#include "sinter/kernels/loss.hpp"
#include "sinter/kernels/norm.hpp"
#include "sinter/kernels/normalize.hpp"
#include "sinter/recipe/techniques.hpp"

#include "support/spans.hpp"
#include "unit/kernels/narrow.hpp"

namespace sinter::detail::testing {
namespace {

TEST_CASE_TEMPLATE("optimizers make the copy of the weights that they update", H, BFloat16,
                   Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    Stream stream(2);
    const int n = 1003;
    const Floats start = normal_values<float>(n, 1), g = normal_values<float>(n, 2);
    Floats master = start, want = start, m(n, .1f), v(n, .2f), want_m = m, want_v = v;
    Halves copy(n);
    const kernel::Decision decision{.scale = .7};
    const SpanStep step{.01, 2, &decision};
    float* const none = nullptr;
    auto both = [&](auto update) {
      update(span_of<float, float, float, H>(stream, master.data(), g.data(), {m.data(), v.data()},
                                             copy.data(), n, step));
      update(span_of<float, float, float, float>(stream, want.data(), g.data(),
                                                 {want_m.data(), want_v.data()}, none, n, step));
      CHECK(same_bits(master, want));
      CHECK(same_bits(m, want_m));
      CHECK(same_bits(v, want_v));
      CHECK(same_bits(copy, narrow<H>(want)));
    };
    both([](const auto& span) { kernel::adamw({.weight_decay = .1}, span); });
    both([](const auto& span) { kernel::sgd({.momentum = .9}, span); });
    both([](const auto& span) { kernel::lion(LionOptions(), span); });
  });
}

TEST_CASE_TEMPLATE("narrow gradients of norms and of biases are those of fp32, rounded once", H,
                   BFloat16, Float16) {
  using Halves = std::vector<H>;
  on_every_instruction_set([] {
    for (int width : {1, 37, 1100}) {
      CAPTURE(width);
      const int n = rows * width;
      const Halves x = normal_values<H>(n, 1), dy = normal_values<H>(n, 2);
      const Halves weight = normal_values<H>(width, 3), before = normal_values<H>(2 * width, 4);
      Floats mean = normal_values<float>(rows, 5), inverse = normal_values<float>(rows, 6);
      Floats scratch(kernel::normalize_scratch(2, width));
      const kernel::Tensor<H> none;
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
          kernel::normalize_backward(
              s, tensor(x, rows, width), tensor(weight, 1, width), tensor(mean, rows, 1),
              tensor(inverse, rows, 1), tensor(dy, rows, width), none, none, none,
              kernel::Tensor(dw, 1, width, add), kernel::Tensor(db, 1, width, add), scratch.data());
        });
        check([&](Stream& s, auto* dw, auto*) {
          kernel::normalize_backward(s, tensor(x, rows, width), tensor(weight, 1, width), {},
                                     tensor(inverse, rows, 1), tensor(dy, rows, width), none, none,
                                     none, kernel::Tensor(dw, 1, width, add), {}, scratch.data());
        });
        check([&](Stream& s, auto* db, auto*) {
          kernel::column_sum(s, tensor(dy, rows, width), kernel::Tensor(db, 1, width, add));
        });
      }
    }
  });
}

TEST_CASE_TEMPLATE("narrow gradients of tables are those of fp32, rounded once", H, BFloat16,
                   Float16) {
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
            kernel::embedding_backward(s, tensor(ids, rows, 1), tensor(dy, rows, width),
                                       tensor(result, vocabulary, width, add), scratch.data());
            return result;
          });
        };
        auto positions = [&]<class G>(std::vector<G> sums) {
          return same_on_all_threads([&](Stream& s) {
            auto result = sums;
            kernel::position_backward(s, tensor(dy, rows, width), sequences_of(starts),
                                      tensor(result, 64, width, add));
            return result;
          });
        };
        CHECK(same_bits(tokens(before), narrow<H>(tokens(wide(before)))));
        CHECK(same_bits(positions(before), narrow<H>(positions(wide(before)))));
      }
    }
  });
}

TEST_CASE_TEMPLATE("narrow gradients of the table of logits are those of fp32, rounded once", H,
                   BFloat16, Float16) {
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
      kernel::linear_cross_entropy(stream, tensor(x, rows, width), tensor(table, vocabulary, width),
                                   tensor(targets, rows, 1), tensor(losses, rows, 1),
                                   kernel::Tensor<H>(), tensor(dtable, vocabulary, width, add), .5,
                                   tensor(scratch, rows, vocabulary));
      return dtable;
    };
    CHECK(nearly(gradient(before), gradient(wide(before))));
    const Halves bias = normal_values<H>(vocabulary, 4), old = normal_values<H>(vocabulary, 5);
    auto of_bias = [&]<class G>(std::vector<G> dbias) {
      Stream stream(2);
      Floats losses(rows), scratch((rows + 1) * vocabulary);
      kernel::linear_bias_cross_entropy(
          stream, tensor(x, rows, width), tensor(table, vocabulary, width),
          tensor(bias, 1, vocabulary), tensor(targets, rows, 1), tensor(losses, rows, 1),
          kernel::Tensor<H>(), kernel::Tensor<G>(), tensor(dbias, 1, vocabulary, add), .5,
          tensor(scratch, rows + 1, vocabulary));
      return dbias;
    };
    CHECK(nearly(of_bias(old), of_bias(wide(old))));
  }
}

TEST_CASE_TEMPLATE("sums of narrow numbers are those of fp32", H, BFloat16, Float16) {
  on_every_instruction_set([] {
    for (std::int64_t n : {0, 1, 3, 17, 4097, 100000}) {
      const std::vector<H> x = normal_values<H>(n, 1);
      auto sums = [](const auto& values) {
        return same_on_all_threads([&](Stream& s) {
          return std::vector<double>{sum_of_squares(s, values), sum(s, values)};
        });
      };
      CHECK(same_bits(sums(x), sums(wide(x))));
    }
    Stream stream(2);
    std::vector<H> large(5000, H(65000.f));
    CHECK(sum_of_squares(stream, large) > 2e13);  // beyond H, in range
    large[4999] = H(INFINITY);
    CHECK(sum_of_squares(stream, large) == INFINITY);
    large[17] = H(NAN);
    CHECK(std::isnan(sum_of_squares(stream, large)));
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
    const kernel::Decision decision{.scale = .7};
    const SpanStep step{.01, 2, &decision};
    const AdamWOptions options{.weight_decay = .1};
    kernel::adamw(options,
                  span_of<float, Float16, float, Float16>(
                      stream, p.data(), g.data(), {m.data(), v.data()}, copy.data(), n, step));
    kernel::adamw(options, span_of<float, float, float, Float16>(stream, want.data(), g_wide.data(),
                                                                 {want_m.data(), want_v.data()},
                                                                 want_copy.data(), n, step));
    CHECK(same_bits(p, want));
    CHECK(same_bits(copy, want_copy));
  });
}

/// With masters and gradients in Float16 and states in fp32, an update is that of fp32, rounded.
TEST_CASE("optimizers update masters in half precision as in fp32") {
  on_every_instruction_set([] {
    const int n = 1003;
    const auto start = normal_values<Float16>(n, 1);
    const kernel::Decision decision{.scale = .7, .limit = 1};
    auto follow = [&](auto update) {
      auto half = start;
      Floats m(n), v(n), want_m(n), want_v(n);
      for (int t = 1; t <= 20; ++t) {
        Stream stream(2);
        const auto g = normal_values<Float16>(n, 10 + t);
        Floats single = wide(half), g_single = wide(g);
        std::vector<Float16> copy(n);
        const SpanStep step{.01, t, &decision};
        update(span_of<Float16, Float16, float, Float16>(
            stream, half.data(), g.data(), {m.data(), v.data()}, copy.data(), n, step));
        update(span_of<float, float, float, float>(stream, single.data(), g_single.data(),
                                                   {want_m.data(), want_v.data()}, nullptr, n,
                                                   step));
        CHECK(same_bits(half, narrow<Float16>(single)));
        CHECK(same_bits(copy, half));
        CHECK(same_bits(m, want_m));
        CHECK(same_bits(v, want_v));
      }
      CHECK(!same_bits(half, start));
    };
    follow([](const auto& span) {
      if (span.step % 2) return kernel::adamw({.weight_decay = .1}, span);
      kernel::adam({.weight_decay = .1}, span);
    });
    follow([](const auto& span) {
      kernel::sgd({.momentum = .9, .weight_decay = .1, .nesterov = span.step % 2 == 0}, span);
    });
    follow([](const auto& span) { kernel::lion({.weight_decay = .1}, span); });
  });
}

}  // namespace
}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
// Attention of bfloat16 against its definition, for the tests of each unit that multiplies it.
#pragma once
#include "unit/kernels/cross_attention.hpp"
#include "unit/kernels/narrow.hpp"

namespace sinter::detail::testing {

using Halves = std::vector<BFloat16>;

/// The largest |got - want| as a share of bounds in fp32's epsilon, and one rounding to bfloat16 of
/// the result, and of the sum where it was added to what was there.
inline double share(const Halves& got, const std::vector<double>& want,
                    const std::vector<double>& bounds, const Halves* before = nullptr) {
  REQUIRE(got.size() == want.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double sum = want[i] + (before ? double((*before)[i]) : 0.);
    const double bound = epsilon<float>() * bounds[i];
    const double error = std::abs(double(got[i]) - sum);
    const double ratio = error / (bound + half_ulp<BFloat16> * (std::abs(sum) + bound) + 1e-37);
    worst = std::isfinite(ratio) ? std::max(worst, ratio) : INFINITY;
  }
  return worst;
}

/// What τ grows by, in ε: y's and the gradients' bounds are multiples of it.
inline const double bf16_more = half_ulp<BFloat16> / epsilon<float>();

/// Both directions against the definition, within the header's bounds.
inline void check_bf16(const Starts& starts, int heads, int depth, AttentionSpan span,
                       Dropout dropout = {}, int key_heads = 0) {
  const int n = starts.back(), width = heads * depth;
  const Shared shared{heads, key_heads ? key_heads : heads, depth};
  const int columns = shared.columns(), key_width = shared.key_heads * depth;
  CAPTURE(n);
  CAPTURE(heads);
  CAPTURE(depth);
  CAPTURE(span.causal);
  CAPTURE(span.window);
  CAPTURE(dropout.probability);
  CAPTURE(key_heads);
  const auto qkv = normal_values<BFloat16>(n * columns, 1, 1.5);
  const auto dy = normal_values<BFloat16>(n * width, 2);
  const auto before = normal_values<BFloat16>(n * columns, 3);
  const Reference<float>& want =
      reference_of(wide(qkv), wide(dy), starts, shared, span, dropout, bf16_more);
  Floats log_sum(n * heads), scratch(kernel::attention_scratch<BFloat16>(n, key_width), NAN);
  const auto y = same_on_all_threads([&](Stream& s) {
    Halves out(n * width, BFloat16(NAN));
    kernel::attention_forward(s, tensor(qkv, n, columns), tensor(out, n, width),
                              tensor(log_sum, n, heads), sequences_of(starts), span, dropout);
    return out;
  });
  CHECK(share(y, want.y, want.y_bound) <= 1);
  CHECK(share_of_bound(log_sum, want.log_sum, want.log_bound, 1) <= 1);
  for (bool add : {false, true}) {
    CAPTURE(add);
    const auto dqkv = same_on_all_threads([&](Stream& s) {
      Halves out = before;
      if (!add) std::fill(out.begin(), out.end(), BFloat16(NAN));
      kernel::attention_backward(s, tensor(qkv, n, columns), tensor(y, n, width),
                                 tensor(dy, n, width), tensor(log_sum, n, heads),
                                 tensor(out, n, columns, add), sequences_of(starts), span,
                                 scratch.data(), dropout);
      return out;
    });
    CHECK(share(dqkv, want.dqkv, want.bound, add ? &before : nullptr) <= 1);
  }
}

/// The same of cross-attention.
inline void check_bf16_cross(const Starts& queries, const Starts& keys, int heads, int depth) {
  Cross<BFloat16> c(queries, keys, heads, depth);
  const int width = c.width, query_rows = queries.back(), key_rows = keys.back();
  CAPTURE(query_rows);
  CAPTURE(key_rows);
  CAPTURE(depth);
  const Factor factor = everywhere_one;
  const Reference<float> want(wide(in_one(c)), wide(c.dy), queries, keys, heads, width, factor,
                              bf16_more);
  same_on_all_threads([&](Stream& s) {
    c.forward(s);
    return c.y;
  });
  CHECK(share(c.y, want.y, want.y_bound) <= 1);
  CHECK(share_of_bound(c.log_sum, want.log_sum, want.log_bound, 1) <= 1);
  auto of_queries = [&](const std::vector<double>& all) {
    return part_of(all, 0, query_rows, 0, width, width);
  };
  auto of_keys = [&](const std::vector<double>& all) {
    return part_of(all, query_rows, key_rows, width, 2 * width, width);
  };
  const Cross<BFloat16> both = c.after_backward(Put::assign, Put::add);
  CHECK(share(both.dq, of_queries(want.dqkv), of_queries(want.bound)) <= 1);
  CHECK(share(both.dkv, of_keys(want.dqkv), of_keys(want.bound), &c.dkv) <= 1);
  CHECK(same_bits(c.after_backward(Put::assign, Put::nothing).dq, both.dq));
  CHECK(same_bits(c.after_backward(Put::nothing, Put::add).dkv, both.dkv));
}

/// Each span of few and of ragged rows, in heads of all kinds of widths.
inline void check_bf16_spans() {
  for (AttentionSpan span :
       {AttentionSpan{.causal = true}, AttentionSpan{}, AttentionSpan{.causal = true, .window = 1},
        AttentionSpan{.causal = true, .window = 45}}) {
    check_bf16({0}, 2, 16, span);
    check_bf16({0, 1}, 1, 16, span);
    check_bf16({0, 17}, 3, 16, span);
    check_bf16({0, 64, 128}, 4, 32, span);
    check_bf16({0, 97, 200}, 1, 48, span);
    check_bf16({0, 1, 1, 34, 99, 100}, 2, 64, span);
    check_bf16({0, 70, 141}, 1, 80, span);
  }
}

/// Dropout, and heads that share keys.
inline void check_bf16_heads() {
  for (AttentionSpan span : {AttentionSpan{.causal = true}, AttentionSpan{}}) {
    check_bf16({0, 33, 34, 98}, 2, 64, span, {0.25f, 7, 1000});
    check_bf16({0, 64, 130}, 6, 16, span, {}, 2);
    check_bf16({0, 32, 33, 65}, 4, 32, span, {0.1f, 8, 0}, 1);
  }
}

/// Other rows of keys than of queries.
inline void check_bf16_cross() {
  check_bf16_cross({0}, {0}, 2, 16);
  check_bf16_cross({0, 1}, {0, 40}, 2, 16);
  check_bf16_cross({0, 40}, {0, 1}, 2, 32);
  check_bf16_cross({0, 64, 70}, {0, 64, 200}, 2, 48);
  check_bf16_cross({0, 1, 34, 99, 100}, {0, 65, 66, 70, 105}, 1, 64);
}

/// A NaN among q, k or v spoils its own row of y and of gradients.
inline void check_bf16_not_finite() {
  const int n = 40, width = 32;
  const Starts at{0, n};
  for (int part : {0, 1, 2}) {
    CAPTURE(part);
    auto qkv = normal_values<BFloat16>(n * 3 * width, 1);
    qkv[5 * 3 * width + part * width + 3] = BFloat16(NAN);
    Halves y(n * width), dqkv(n * 3 * width);
    const Halves dy(n * width, BFloat16(1.f));
    Floats log_sum(n), scratch(kernel::attention_scratch<BFloat16>(n, width));
    Stream stream(1);
    kernel::attention_forward(stream, tensor(qkv, n, 3 * width), tensor(y, n, width),
                              tensor(log_sum, n, 1), sequences_of(at), AttentionSpan{});
    CHECK(std::isnan(float(y[5 * width + 3])));
    kernel::attention_backward(stream, tensor(qkv, n, 3 * width), tensor(y, n, width),
                               tensor(dy, n, width), tensor(log_sum, n, 1),
                               tensor(dqkv, n, 3 * width), sequences_of(at), AttentionSpan{},
                               scratch.data());
    CHECK(std::isnan(float(dqkv[5 * 3 * width + 3])));
  }
}

}  // namespace sinter::detail::testing

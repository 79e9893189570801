// SPDX-License-Identifier: Apache-2.0
// Attention of bfloat16 against its definition: by pairs, where the processor multiplies them, and
// in fp32 on the other instruction sets.
#include "unit/kernels/attention.hpp"
#include "unit/kernels/narrow.hpp"

namespace sinter::testing {
namespace {

using Halves = std::vector<BFloat16>;

/// The largest |got - want| as a share of bounds in fp32's epsilon, and one rounding to bfloat16 of
/// the result, and of the sum where it was added to what was there.
double share(const Halves& got, const std::vector<double>& want, const std::vector<double>& bounds,
             const Halves* before = nullptr) {
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

/// Both directions against the definition, within the header's bounds.
void check_pairs(const Starts& starts, int heads, int depth, AttentionSpan span,
                 Dropout dropout = {}, int key_heads = 0) {
  const int sequences_here = int(starts.size()) - 1, n = starts.back(), width = heads * depth;
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
  Factor factor = [](int, int, int) { return 1; };
  if (dropout.probability > 0) {
    factor = [=, kept = mask<float>(starts, heads, depth, dropout)](int r, int h, int k) {
      return kept[r * width + h * depth + k] / (1 - (long double)dropout.probability);
    };
  }
  // What τ grows by, in ε: y's and the gradients' bounds are multiples of it.
  const double more = half_ulp<BFloat16> / epsilon<float>();
  Reference<float> want(shared.repeated(wide(qkv), n), wide(dy), starts, heads, width, span, factor,
                        more);
  want.dqkv = shared.summed(want.dqkv, n);
  want.bound = shared.summed(want.bound, n);
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

TEST_CASE("attention of bfloat16 equals its definition, both directions") {
  on_every_instruction_set([] {
    for (AttentionSpan span : {AttentionSpan{.causal = true}, AttentionSpan{},
                               AttentionSpan{.causal = true, .window = 1},
                               AttentionSpan{.causal = true, .window = 45}}) {
      check_pairs({0}, 2, 16, span);
      check_pairs({0, 1}, 1, 16, span);
      check_pairs({0, 17}, 3, 16, span);
      check_pairs({0, 64, 128}, 4, 32, span);
      check_pairs({0, 97, 200}, 1, 48, span);
      check_pairs({0, 1, 1, 34, 99, 100}, 2, 64, span);
      check_pairs({0, 70, 141}, 1, 80, span);
    }
  });
}

TEST_CASE("attention of bfloat16 with dropout, heads that share keys, long sequences") {
  on_every_instruction_set([] {
    for (AttentionSpan span : {AttentionSpan{.causal = true}, AttentionSpan{}}) {
      check_pairs({0, 33, 34, 98}, 2, 64, span, {0.25f, 7, 1000});
      check_pairs({0, 64, 130}, 6, 16, span, {}, 2);
      check_pairs({0, 32, 33, 65}, 4, 32, span, {0.1f, 8, 0}, 1);
    }
  });
  check_pairs({0, 700, 1300}, 2, 32, {.causal = true});
  check_pairs({0, 40}, 1, kernel::most_head_width, {});
}

TEST_CASE("attention of bfloat16 spreads what is not finite") {
  const int n = 40, width = 32;
  const Starts at{0, n};
  on_every_instruction_set([&] {
    for (int part : {0, 1, 2}) {
      CAPTURE(part);
      auto qkv = normal_values<BFloat16>(n * 3 * width, 1);
      qkv[5 * 3 * width + part * width + 3] = BFloat16(NAN);
      Halves y(n * width), dqkv(n * 3 * width);
      const Halves dy(n * width, BFloat16(1.f));
      Floats log_sum(n), scratch(kernel::attention_scratch<BFloat16>(n, width));
      Stream stream(1);
      kernel::attention_forward(stream, tensor(qkv, n, 3 * width), tensor(y, n, width),
                                tensor(log_sum, n, 1), {at.data(), 1}, AttentionSpan{});
      CHECK(std::isnan(float(y[5 * width + 3])));
      kernel::attention_backward(stream, tensor(qkv, n, 3 * width), tensor(y, n, width),
                                 tensor(dy, n, width), tensor(log_sum, n, 1),
                                 tensor(dqkv, n, 3 * width), {at.data(), 1}, AttentionSpan{},
                                 scratch.data());
      CHECK(std::isnan(float(dqkv[5 * 3 * width + 3])));
    }
  });
}

}  // namespace
}  // namespace sinter::testing

// SPDX-License-Identifier: Apache-2.0
// The forward pass of attention of bfloat16, by any Products (attention_bf16-inl.hpp). Include
// after attention-inl.hpp and Highway's math-inl.h, only in the pass of Highway's HWY_AVX3.
#pragma once
#include <algorithm>
#include <limits>

#include "kernels/cpu/attention_bf16-inl.hpp"

HWY_PUSH_ATTRIBUTES(SINTER_PAIRS_TARGET)
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// Running softmax of a strip, base 2, as Softmax in attention_forward.cpp, of scores that are yet
/// to be multiplied by `scale`.
struct Bf16Softmax {
  alignas(64) float most[bf16_strip], sum[bf16_strip], correction[bf16_strip];
  float scale;

  explicit Bf16Softmax(float s) : scale(s) {
    std::fill_n(most, bf16_strip, -std::numeric_limits<float>::infinity());
    std::fill_n(sum, bf16_strip, 0.f);
  }

  /// p is as sum_over_keys() takes it.
  template <class Products, bool Dropped>
  HWY_INLINE void block(float* scores, BFloat16* p, int first_key, int both, int all,
                        const Strip<float>& s, const StripMask<float>& mask) {
    for (int q = 0; q < bf16_strip; q += half) {
      const int n = q == 0 ? both : all;
      const auto before = at(most + q), factor = hn::Set(Lanes(), scale);
      auto largest = hn::Set(Lanes(), -std::numeric_limits<float>::infinity());
      for (int k = 0; k < n; ++k) {
        float* from = scores + k * bf16_strip + q;
        auto score = at(from);
        if (!s.sees(first_key + k)) {
          score = s.visible(score, q, first_key + k,
                            hn::Set(Lanes(), -std::numeric_limits<float>::infinity()));
          hn::StoreU(score, Lanes(), from);
        }
        largest = hn::Max(largest, score);
      }
      largest = hn::Max(before, hn::Mul(largest, factor));
      const auto changed = exp2(Lanes(), hn::Sub(before, largest));
      auto total = hn::Mul(at(sum + q), changed);
      const auto probability = [&](int k) SINTER_PAIRS_ATTR {
        return exp2(Lanes(), hn::MulSub(at(scores + k * bf16_strip + q), factor, largest));
      };
      for (int k = 0; k < n; k += 2) {
        auto low = probability(k), high = hn::Zero(Lanes());
        if (k + 1 < n) high = probability(k + 1);
        total = hn::Add(total, hn::Add(low, high));
        if (Dropped) {
          low = mask.apply(low, q, first_key + k);
          high = mask.apply(high, q, first_key + k + 1);
        }
        const __m512i two = rounded(low.raw, high.raw);
        Products::in_pairs ? put_pairs(two, p, k, q) : put_rows(two, p, k, q);
      }
      hn::StoreU(largest, Lanes(), most + q);
      hn::StoreU(total, Lanes(), sum + q);
      hn::StoreU(changed, Lanes(), correction + q);
    }
    if (!Products::in_pairs) clear_lower(p, both, all);
  }
};

template <class Products, bool Dropped>
void forward_strip(const Attention<BFloat16>& a, Head h, int first_query) {
  const int depth = a.depth();
  const std::int64_t row = a.key_row;
  const Strip<float> s(a, h, first_query);
  const std::int64_t first_row = h.queries.start + s.first;
  const BFloat16* k = a.k + h.keys.start * row + a.key_column(h.head);
  const BFloat16* v = a.v + h.keys.start * row + a.key_column(h.head);

  [[maybe_unused]] const typename Products::Scope scope{};
  alignas(64) BFloat16 queries[bf16_strip * max_head_width], values[key_block * max_head_width];
  alignas(64) BFloat16 p[key_block * bf16_strip];
  alignas(64) float result[bf16_strip * max_head_width], scores[key_block * bf16_strip];
  Products::pack_queries(a.q + first_row * a.q_row + h.head * depth, a.q_row, s.count, depth,
                         queries);
  Bf16Softmax softmax(a.scale() * float(log2_e));
  StripMask<float> mask;
  if (Dropped) mask.set(for_head(a.dropout, h.head), first_row);

  for (int first = s.keys.first; first < s.keys.last; first += key_block) {
    const int n = std::min(key_block, s.keys.last - first);
    const int both = s.seen_by_both(first, n);
    Products::times_queries(both, n, k + first * row, row, queries, depth, scores);
    softmax.template block<Products, Dropped>(scores, p, first, both, n, s, mask);
    Products::pack_rows(v + first * row, row, n, depth, values);
    if (first == s.keys.first) {
      Products::template sum_over_keys<Into::assign>(both, n, s.count, p, values, depth, result);
    } else {
      Products::template sum_over_keys<Into::scale_and_add>(both, n, s.count, p, values, depth,
                                                            result, softmax.correction);
    }
  }

  alignas(64) float logarithms[bf16_strip], inverse[bf16_strip];
  for (int i = 0; i < bf16_strip; i += half) {
    const auto sum = at(softmax.sum + i);
    hn::StoreU(
        hn::MulAdd(at(softmax.most + i), hn::Set(Lanes(), float(ln_2)), hn::Log(Lanes(), sum)),
        Lanes(), logarithms + i);
    hn::StoreU(hn::Div(hn::Set(Lanes(), 1.f), sum), Lanes(), inverse + i);
  }
  for (int i = 0; i < s.count; ++i) {
    a.log_sum[(first_row + i) * a.heads + h.head] = logarithms[i];
    BFloat16* y = a.y + (first_row + i) * a.width + h.head * depth;
    for (int j = 0; j < depth; j += 16)
      store_rounded(
          _mm512_mul_ps(_mm512_loadu_ps(result + i * depth + j), _mm512_set1_ps(inverse[i])),
          y + j);
  }
}

template <class Products>
void forward(const Attention<BFloat16>& a, Head h, int first_query) {
  with_dropout(a, [&](auto dropped) { forward_strip<Products, dropped()>(a, h, first_query); });
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_POP_ATTRIBUTES

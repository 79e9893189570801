// SPDX-License-Identifier: Apache-2.0
// Attention of bfloat16 by the instruction that multiplies pairs of them (AVX-512 BF16: AMD from
// Zen 4, Intel from Cooper Lake). Scores are sums of exact products; probabilities are rounded to
// bfloat16 before they are multiplied; all sums are fp32.
#include <algorithm>
#include <limits>

#include "kernels/cpu/attention_call.hpp"
#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/targets.hpp"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC's PR105593, in its own headers
#endif
#include <immintrin.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_pairs_forward.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/attention-inl.hpp"

#include <hwy/contrib/math/math-inl.h>

#if HWY_TARGET == HWY_AVX3
#include "kernels/cpu/attention_pairs-inl.hpp"

HWY_PUSH_ATTRIBUTES(SINTER_PAIRS_TARGET)
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// Running softmax of a strip, base 2, as Softmax in attention_forward.cpp, of scores that are yet
/// to be multiplied by `scale`.
struct PairSoftmax {
  alignas(64) float most[pair_strip], sum[pair_strip], correction[pair_strip];
  float scale;

  explicit PairSoftmax(float s) : scale(s) {
    std::fill_n(most, pair_strip, -std::numeric_limits<float>::infinity());
    std::fill_n(sum, pair_strip, 0.f);
  }

  /// p: pairs of keys × queries.
  template <bool Dropped>
  HWY_INLINE void block(float* scores, Pair* p, int first_key, int both, int all,
                        const Strip<float>& s, const StripMask<float>& mask) {
    for (int q = 0; q < pair_strip; q += half) {
      const int n = q == 0 ? both : all;
      const auto before = at(most + q), factor = hn::Set(Lanes(), scale);
      auto largest = hn::Set(Lanes(), -std::numeric_limits<float>::infinity());
      for (int k = 0; k < n; ++k) {
        float* from = scores + k * pair_strip + q;
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
        return exp2(Lanes(), hn::MulSub(at(scores + k * pair_strip + q), factor, largest));
      };
      for (int k = 0; k < n; k += 2) {
        auto low = probability(k), high = hn::Zero(Lanes());
        if (k + 1 < n) high = probability(k + 1);
        total = hn::Add(total, hn::Add(low, high));
        if (Dropped) {
          low = mask.apply(low, q, first_key + k);
          high = mask.apply(high, q, first_key + k + 1);
        }
        _mm512_storeu_si512(p + k / 2 * pair_strip + q, pair_halves(rounded(low.raw, high.raw)));
      }
      hn::StoreU(largest, Lanes(), most + q);
      hn::StoreU(total, Lanes(), sum + q);
      hn::StoreU(changed, Lanes(), correction + q);
    }
  }
};

template <bool Dropped>
void forward_strip(const Attention<BFloat16>& a, Head h, int first_query) {
  const int depth = a.depth();
  const std::int64_t row = a.key_row;
  const Strip<float> s(a, h, first_query);
  const std::int64_t first_row = h.queries.start + s.first;
  const BFloat16* k = a.k + h.keys.start * row + a.key_column(h.head);
  const BFloat16* v = a.v + h.keys.start * row + a.key_column(h.head);

  alignas(64) Pair queries[most_head_width / 2 * pair_strip], values[key_pairs * most_head_width];
  alignas(64) Pair p[key_pairs * pair_strip];
  alignas(64) float result[pair_strip * most_head_width], scores[key_block * pair_strip];
  load_queries(a.q + first_row * a.q_row + h.head * depth, a.q_row, s.count, depth, queries);
  PairSoftmax softmax(a.scale() * float(log2_e));
  StripMask<float> mask;
  if (Dropped) mask.set(for_head(a.dropout, h.head), first_row);

  for (int first = s.keys.first; first < s.keys.last; first += key_block) {
    const int n = std::min(key_block, s.keys.last - first);
    const int both = s.seen_by_both(first, n);
    times_queries(both, n, k + first * row, row, queries, depth, scores);
    softmax.template block<Dropped>(scores, p, first, both, n, s, mask);
    pair_rows(v + first * row, row, n, depth, values);
    if (first == s.keys.first) {
      sum_over_keys<Into::assign>(both, n, s.count, p, values, depth, result);
    } else {
      sum_over_keys<Into::scale_and_add>(both, n, s.count, p, values, depth, result,
                                         softmax.correction);
    }
  }

  alignas(64) float logarithms[pair_strip], inverse[pair_strip];
  for (int i = 0; i < pair_strip; i += half) {
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

void forward(const Attention<BFloat16>& a, Head h, int first_query) {
  with_dropout(a, [&](auto dropped) { forward_strip<dropped()>(a, h, first_query); });
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_POP_ATTRIBUTES
#endif  // HWY_TARGET == HWY_AVX3

#if HWY_ONCE
namespace sinter::kernel {

#if HWY_TARGETS & HWY_AVX3
bool attends_by_pairs(int depth) {
  if (depth % 16 != 0 || !(hwy::SupportedTargets() & HWY_AVX3) || !has_pairs()) return false;
  return preferred_gemm<BFloat16>() != Gemm::tiles;
}
void attend_by_pairs(const Attention<BFloat16>& a, Head h, int first_query) {
  N_AVX3::forward(a, h, first_query);
}
#else
bool attends_by_pairs(int) { return false; }
void attend_by_pairs(const Attention<BFloat16>&, Head, int) {}
#endif

}  // namespace sinter::kernel
#endif  // HWY_ONCE

// SPDX-License-Identifier: Apache-2.0
// The backward pass of attention_pairs_forward.cpp: probabilities and the scores' gradients are
// rounded to bfloat16 before they are multiplied; all sums are fp32.
#include <algorithm>

#include "kernels/cpu/attention_call.hpp"
#include "kernels/cpu/targets.hpp"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC's PR105593, in its own headers
#endif
#include <immintrin.h>
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_pairs_backward.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/attention-inl.hpp"

#if HWY_TARGET == HWY_AVX3
#include "kernels/cpu/attention_pairs-inl.hpp"

HWY_PUSH_ATTRIBUTES(SINTER_PAIRS_TARGET)
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// What the backward pass needs of a strip, packed.
struct PairStrip {
  alignas(64) float log_sum[pair_strip], delta[pair_strip];  // log₂; dy · y / √d
  alignas(64) float scores[key_block * pair_strip], slopes_of_p[key_block * pair_strip];
  alignas(64) BFloat16 p[key_block * pair_strip], ds[key_block * pair_strip];
  alignas(64) Pair ds_pairs[key_pairs * pair_strip];
  alignas(64) Pair queries[most_head_width / 2 * pair_strip],
      slopes[most_head_width / 2 * pair_strip];
  alignas(64) Pair query_rows[half * most_head_width], slope_rows[half * most_head_width];
  alignas(64) float dqueries[pair_strip * most_head_width];

  void load(const Attention<BFloat16>& a, Head h, const Strip<float>& s) {
    const int depth = a.depth();
    const std::int64_t first = h.queries.start + s.first;
    const BFloat16* q = a.q + first * a.q_row + h.head * depth;
    const BFloat16* dy = a.dy + first * a.width + h.head * depth;
    const BFloat16* y = a.y + first * a.width + h.head * depth;
    load_queries(q, a.q_row, s.count, depth, queries);
    load_queries(dy, a.width, s.count, depth, slopes);
    pair_rows(q, a.q_row, s.count, depth, query_rows);
    pair_rows(dy, a.width, s.count, depth, slope_rows);
    std::fill_n(log_sum, pair_strip, 0.f);
    std::fill_n(delta, pair_strip, 0.f);
    for (int i = 0; i < s.count; ++i) {
      log_sum[i] = float(log2_e) * a.log_sum[(first + i) * a.heads + h.head];
      delta[i] = a.scale() *
                 dot_pairs(dy + i * std::int64_t(a.width), y + i * std::int64_t(a.width), depth);
    }
  }

  /// From scores and dy · v: the probabilities p, and ds, the gradients of q · k.
  template <bool Dropped>
  HWY_INLINE void block(float scale, int first_key, int both, int all, const Strip<float>& s,
                        const StripMask<float>& mask) {
    const auto to_log2 = hn::Set(Lanes(), scale * float(log2_e));
    const auto factor = hn::Set(Lanes(), scale), zero = hn::Zero(Lanes());
    for (int q = 0; q < pair_strip; q += half) {
      const int n = q == 0 ? both : all;
      const auto largest = at(log_sum + q), mean = at(delta + q);
      const auto one = [&](int k, Vector<float>& kept, Vector<float>& slope) SINTER_PAIRS_ATTR {
        const auto score = hn::MulSub(at(scores + k * pair_strip + q), to_log2, largest);
        // As in BackwardStrip: it may be far above the logarithm of the sum that it is part of.
        auto probability = exp2(Lanes(), hn::Min(zero, score));
        if (!s.sees(first_key + k)) probability = s.visible(probability, q, first_key + k, zero);
        kept = probability;
        slope = at(slopes_of_p + k * pair_strip + q);
        if (Dropped) {
          slope = mask.apply(slope, q, first_key + k);
          kept = mask.apply(kept, q, first_key + k);
        }
        slope = hn::Mul(probability, hn::MulSub(slope, factor, mean));
      };
      for (int k = 0; k < n; k += 2) {
        Vector<float> low, high = zero, low_slope, high_slope = zero;
        one(k, low, low_slope);
        if (k + 1 < n) one(k + 1, high, high_slope);
        const __m512i two_p = rounded(low.raw, high.raw);
        const __m512i two_ds = rounded(low_slope.raw, high_slope.raw);
        put(two_p, p + k * pair_strip + q);
        put(two_ds, ds + k * pair_strip + q);
        _mm512_storeu_si512(ds_pairs + k / 2 * pair_strip + q, pair_halves(two_ds));
      }
    }
  }
  /// The halves of `two` into two rows.
  static HWY_INLINE void put(__m512i two, BFloat16* to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_castsi512_si256(two));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + pair_strip),
                        _mm512_extracti64x4_epi64(two, 1));
  }
};

/// c (keys × depth) = p (keys × queries) · rows (queries × depth), over the `count` queries of a
/// strip that see each key; added to c in the first `open` rows.
HWY_INLINE void sum_over_queries(int open, int both, int n, const BFloat16* p, const Pair* rows,
                                 int count, float* c, std::int64_t c_row, int depth) {
  const int borders[] = {0, std::min(open, both), both, std::max(open, both), n};
  for (int i = 0; i < 4; ++i) {
    const int first = borders[i], keys = borders[i + 1] - first, skip = i < 2 ? 0 : half;
    if (keys == 0) continue;
    const Pairs a = Pairs{p, pair_strip, 2}.from(first, skip / 2);
    const Pair* from = rows + skip / 2 * depth;
    const int pairs = std::max(0, (count - skip + 1) / 2);
    float* to = c + first * c_row;
    if (first < open) {
      multiply_pairs_across<Into::add>(keys, a, from, depth, pairs, to, c_row, depth);
    } else {
      multiply_pairs_across<Into::assign>(keys, a, from, depth, pairs, to, c_row, depth);
    }
  }
}

/// For one head of queries, as backward_by_heads() asks for it.
template <bool Dropped>
void backward_head(const Attention<BFloat16>& a, Head h, bool shared) {
  const int depth = a.depth();
  const std::int64_t row = a.key_row;
  const BFloat16* k = a.k + h.keys.start * row + a.key_column(h.head);
  const BFloat16* v = a.v + h.keys.start * row + a.key_column(h.head);
  const KeySums<BFloat16> sums(a, h);

  PairStrip b;
  StripMask<float> mask;
  alignas(64) Pair keys[key_pairs * most_head_width];
  int open = shared ? h.keys.length : 0;  // keys whose sums hold something to add to
  for (int first_query = 0; first_query < h.queries.length; first_query += pair_strip) {
    const Strip<float> s(a, h, first_query);
    b.load(a, h, s);
    prefetch_next(a, h, s);
    if (Dropped) mask.set(for_head(a.dropout, h.head), h.queries.start + s.first);
    for (int first = s.keys.first; first < s.keys.last; first += key_block) {
      const int n = std::min(key_block, s.keys.last - first);
      const int opened = std::clamp(open - first, 0, n);
      const int both = s.seen_by_both(first, n);
      times_queries(both, n, k + first * row, row, b.queries, depth, b.scores);
      times_queries(both, n, v + first * row, row, b.slopes, depth, b.slopes_of_p);
      b.template block<Dropped>(a.scale(), first, both, n, s, mask);
      if (sums.dk) {
        float *dk = sums.dk + first * sums.row, *dv = sums.dv + first * sums.row;
        sum_over_queries(opened, both, n, b.p, b.slope_rows, s.count, dv, sums.row, depth);
        sum_over_queries(opened, both, n, b.ds, b.query_rows, s.count, dk, sums.row, depth);
      }
      if (!a.dq) continue;
      pair_rows(k + first * row, row, n, depth, keys);
      if (first == s.keys.first) {
        sum_over_keys<Into::assign>(both, n, s.count, b.ds_pairs, keys, depth, b.dqueries);
      } else {
        sum_over_keys<Into::add>(both, n, s.count, b.ds_pairs, keys, depth, b.dqueries);
      }
    }
    open = std::max(open, s.keys.last);
    if (!a.dq) continue;
    BFloat16* dq = a.dq + (h.queries.start + s.first) * a.q_row + h.head * depth;
    for (int i = 0; i < s.count; ++i)
      put_all(b.dqueries + i * depth, dq + i * a.q_row, depth, a.add_to_dq);
  }
}

void backward(const Attention<BFloat16>& a, Head keys) {
  backward_by_heads(
      a, keys, [&](Head h, bool shared, auto dropped) { backward_head<dropped()>(a, h, shared); });
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_POP_ATTRIBUTES
#endif  // HWY_TARGET == HWY_AVX3

#if HWY_ONCE
namespace sinter::kernel {

#if HWY_TARGETS & HWY_AVX3
void propagate_by_pairs(const Attention<BFloat16>& a, Head keys) { N_AVX3::backward(a, keys); }
#else
void propagate_by_pairs(const Attention<BFloat16>&, Head) {}
#endif

}  // namespace sinter::kernel
#endif  // HWY_ONCE

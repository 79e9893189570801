// SPDX-License-Identifier: Apache-2.0
// The backward pass of attention of bfloat16, by any Products (attention_bf16-inl.hpp). Include
// after attention-inl.hpp, only in the pass of Highway's HWY_AVX3.
#pragma once
#include <algorithm>

#include "kernels/cpu/attention_bf16-inl.hpp"

HWY_PUSH_ATTRIBUTES(SINTER_PAIRS_TARGET)
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// What the backward pass needs of a strip, packed. ds is the gradient of q · k.
template <class Products>
struct Bf16Strip {
  alignas(64) float log_sum[bf16_strip], delta[bf16_strip];  // log₂; dy · y / √d
  alignas(64) float scores[key_block * bf16_strip], slopes_of_p[key_block * bf16_strip];
  alignas(64) BFloat16 p[key_block * bf16_strip], ds[key_block * bf16_strip];
  alignas(64) BFloat16 ds_pairs[Products::in_pairs ? key_block * bf16_strip : 1];
  alignas(64) BFloat16 queries[bf16_strip * max_head_width], slopes[bf16_strip * max_head_width];
  alignas(64) BFloat16 query_rows[bf16_strip * max_head_width],
      slope_rows[bf16_strip * max_head_width];
  alignas(64) float dqueries[bf16_strip * max_head_width];

  void load(const Attention<BFloat16>& a, Head h, const Strip<float>& s) {
    const int depth = a.depth();
    const std::int64_t first = h.queries.start + s.first;
    const BFloat16* q = a.q + first * a.q_row + h.head * depth;
    const BFloat16* dy = a.dy + first * a.width + h.head * depth;
    const BFloat16* y = a.y + first * a.width + h.head * depth;
    Products::pack_queries(q, a.q_row, s.count, depth, queries);
    Products::pack_queries(dy, a.width, s.count, depth, slopes);
    Products::pack_rows(q, a.q_row, s.count, depth, query_rows);
    Products::pack_rows(dy, a.width, s.count, depth, slope_rows);
    std::fill_n(log_sum, bf16_strip, 0.f);
    std::fill_n(delta, bf16_strip, 0.f);
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
    for (int q = 0; q < bf16_strip; q += half) {
      const int n = q == 0 ? both : all;
      const auto largest = at(log_sum + q), mean = at(delta + q);
      const auto one = [&](int k, Vector<float>& kept, Vector<float>& slope) SINTER_PAIRS_ATTR {
        const auto score = hn::MulSub(at(scores + k * bf16_strip + q), to_log2, largest);
        // As in BackwardStrip: it may be far above the logarithm of the sum that it is part of.
        auto probability = exp2(Lanes(), hn::Min(zero, score));
        if (!s.sees(first_key + k)) probability = s.visible(probability, q, first_key + k, zero);
        kept = probability;
        slope = at(slopes_of_p + k * bf16_strip + q);
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
        put_rows(two_p, p, k, q);
        put_rows(two_ds, ds, k, q);
        if (Products::in_pairs) put_pairs(two_ds, ds_pairs, k, q);
      }
    }
    if (!Products::in_pairs) clear_lower(p, both, all), clear_lower(ds, both, all);
  }
  /// ds as sum_over_keys() takes it.
  const BFloat16* ds_over_keys() const { return Products::in_pairs ? ds_pairs : ds; }
};

/// For one head of queries, as backward_by_heads() asks for it.
template <class Products, bool Dropped>
void backward_head(const Attention<BFloat16>& a, Head h, bool shared) {
  const int depth = a.depth();
  const std::int64_t row = a.key_row;
  const BFloat16* k = a.k + h.keys.start * row + a.key_column(h.head);
  const BFloat16* v = a.v + h.keys.start * row + a.key_column(h.head);
  const KeySums<BFloat16> sums(a, h);

  Bf16Strip<Products> b;
  StripMask<float> mask;
  alignas(64) BFloat16 keys[key_block * max_head_width];
  int open = shared ? h.keys.length : 0;  // keys whose sums hold something to add to
  for (int first_query = 0; first_query < h.queries.length; first_query += bf16_strip) {
    const Strip<float> s(a, h, first_query);
    b.load(a, h, s);
    prefetch_next(a, h, s);
    if (Dropped) mask.set(for_head(a.dropout, h.head), h.queries.start + s.first);
    for (int first = s.keys.first; first < s.keys.last; first += key_block) {
      const int n = std::min(key_block, s.keys.last - first);
      const int opened = std::clamp(open - first, 0, n);
      const int both = s.seen_by_both(first, n);
      Products::times_queries(both, n, k + first * row, row, b.queries, depth, b.scores);
      Products::times_queries(both, n, v + first * row, row, b.slopes, depth, b.slopes_of_p);
      b.template block<Dropped>(a.scale(), first, both, n, s, mask);
      if (sums.dk) {
        float *dk = sums.dk + first * sums.row, *dv = sums.dv + first * sums.row;
        Products::sum_over_queries(opened, both, n, b.p, b.slope_rows, s.count, dv, sums.row,
                                   depth);
        Products::sum_over_queries(opened, both, n, b.ds, b.query_rows, s.count, dk, sums.row,
                                   depth);
      }
      if (!a.dq) continue;
      Products::pack_rows(k + first * row, row, n, depth, keys);
      if (first == s.keys.first) {
        Products::template sum_over_keys<Into::assign>(both, n, s.count, b.ds_over_keys(), keys,
                                                       depth, b.dqueries);
      } else {
        Products::template sum_over_keys<Into::add>(both, n, s.count, b.ds_over_keys(), keys, depth,
                                                    b.dqueries);
      }
    }
    open = std::max(open, s.keys.last);
    if (!a.dq) continue;
    BFloat16* dq = a.dq + (h.queries.start + s.first) * a.q_row + h.head * depth;
    for (int i = 0; i < s.count; ++i)
      put_all(b.dqueries + i * depth, dq + i * a.q_row, depth, a.add_to_dq);
  }
}

template <class Products>
void backward(const Attention<BFloat16>& a, Head keys) {
  [[maybe_unused]] const typename Products::Scope scope{};
  backward_by_heads(a, keys, [&](Head h, bool shared, auto dropped) {
    backward_head<Products, dropped()>(a, h, shared);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_POP_ATTRIBUTES

// SPDX-License-Identifier: Apache-2.0
// The products of attention by the instruction that multiplies pairs of bfloat16 (AVX-512 BF16: AMD
// from Zen 4, Intel from Cooper Lake). Include after attention-inl.hpp, only in the pass of
// Highway's HWY_AVX3.
#pragma once
#include <algorithm>

#include "kernels/cpu/attention_bf16-inl.hpp"

HWY_PUSH_ATTRIBUTES(SINTER_PAIRS_TARGET)
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// As attention_bf16-inl.hpp asks for them. Queries are packed as pairs of neighbours, depth / 2 ×
/// queries; rows as pairs of one row and the next.
struct PairProducts {
  struct Scope {};
  static constexpr bool in_pairs = true;

  static HWY_INLINE void pack_queries(const BFloat16* rows, std::int64_t row, int count, int depth,
                                      BFloat16* to) {
    for (int q = 0; q < bf16_strip; q += half)
      transpose_pairs(rows + q * row, row, count - q, depth, pairs(to) + q, bf16_strip);
  }
  static HWY_INLINE void pack_rows(const BFloat16* rows, std::int64_t row, int count, int depth,
                                   BFloat16* to) {
    pair_rows(rows, row, count, depth, pairs(to));
  }

  static HWY_INLINE void times_queries(int both, int n, const BFloat16* rows, std::int64_t row,
                                       const BFloat16* queries, int depth, float* scores) {
    const Pairs a{rows, row, 2};
    multiply_pairs<Into::assign, 2>(both, a, pairs(queries), bf16_strip, depth / 2, scores,
                                    bf16_strip);
    if (both < n)
      multiply_pairs<Into::assign, 1>(n - both, a.from(both, 0), pairs(queries) + half, bf16_strip,
                                      depth / 2, scores + both * bf16_strip + half, bf16_strip);
  }

  template <Into into>
  static HWY_INLINE void sum_over_keys(int both, int n, int count, const BFloat16* p,
                                       const BFloat16* rows, int depth, float* c,
                                       const float* factors = nullptr) {
    const Pairs a{p, 2, 2 * bf16_strip};
    const int lower = both == n ? count : std::min(count, half);
    multiply_pairs_across<into>(lower, a, pairs(rows), depth, (both + 1) / 2, c, depth, depth,
                                factors);
    if (lower < count)
      multiply_pairs_across<into>(count - lower, a.from(lower, 0), pairs(rows), depth, (n + 1) / 2,
                                  c + lower * depth, depth, depth,
                                  factors ? factors + lower : nullptr);
  }

  static HWY_INLINE void sum_over_queries(int open, int both, int n, const BFloat16* p,
                                          const BFloat16* rows, int count, float* c,
                                          std::int64_t c_row, int depth) {
    const int borders[] = {0, std::min(open, both), both, std::max(open, both), n};
    for (int i = 0; i < 4; ++i) {
      const int first = borders[i], keys = borders[i + 1] - first, skip = i < 2 ? 0 : half;
      if (keys == 0) continue;
      const Pairs a = Pairs{p, bf16_strip, 2}.from(first, skip / 2);
      const Pair* from = pairs(rows) + skip / 2 * depth;
      const int deep = std::max(0, (count - skip + 1) / 2);
      float* to = c + first * c_row;
      if (first < open) {
        multiply_pairs_across<Into::add>(keys, a, from, depth, deep, to, c_row, depth);
      } else {
        multiply_pairs_across<Into::assign>(keys, a, from, depth, deep, to, c_row, depth);
      }
    }
  }

 private:
  static Pair* pairs(BFloat16* x) { return reinterpret_cast<Pair*>(x); }
  static const Pair* pairs(const BFloat16* x) { return reinterpret_cast<const Pair*>(x); }
};

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_POP_ATTRIBUTES

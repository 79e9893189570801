// SPDX-License-Identifier: Apache-2.0
// What both directions of attention by pairs of bfloat16 share. Include after attention-inl.hpp, in
// the pass of Highway's HWY_AVX3 alone.
//
// Queries of a strip lie along the vectors in scores, as in attention-inl.hpp; the depth does in
// all that is summed.
#pragma once
#include "kernels/cpu/attention_call.hpp"
#include "kernels/cpu/pairs-inl.hpp"

HWY_PUSH_ATTRIBUTES(SINTER_PAIRS_TARGET)
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

using Lanes = Tag<float>;
constexpr int half = 16;
static_assert(pair_strip == strip<float> && pair_strip == 2 * half);
constexpr int key_pairs = key_block / 2;

HWY_INLINE Vector<float> at(const float* x) { return hn::LoadU(Lanes(), x); }

/// c (queries × depth) = p (queries × keys, whose pairs lie as keys / 2 × queries) · rows (keys ×
/// depth), or added to c (· factors), for `count` queries: those of the lower half over the first
/// `both` keys, those of the upper half over n.
template <Into into>
HWY_INLINE void sum_over_keys(int both, int n, int count, const Pair* p, const Pair* rows,
                              int depth, float* c, const float* factors = nullptr) {
  const Pairs a = transposed_pairs(p, pair_strip);
  const int lower = both == n ? count : std::min(count, half);
  multiply_pairs_across<into>(lower, a, rows, depth, (both + 1) / 2, c, depth, depth, factors);
  if (lower < count)
    multiply_pairs_across<into>(count - lower, a.from(lower, 0), rows, depth, (n + 1) / 2,
                                c + lower * depth, depth, depth,
                                factors ? factors + lower : nullptr);
}

/// scores (keys × queries) = rows (keys × depth) · queries (depth × queries).
HWY_INLINE void times_queries(int both, int n, const BFloat16* rows, std::int64_t row,
                              const Pair* queries, int depth, float* scores) {
  const Pairs a{rows, row, 2};
  multiply_pairs<Into::assign, 2>(both, a, queries, pair_strip, depth / 2, scores, pair_strip);
  if (both < n)
    multiply_pairs<Into::assign, 1>(n - both, a.from(both, 0), queries + half, pair_strip,
                                    depth / 2, scores + both * pair_strip + half, pair_strip);
}

/// Rows of a strip as pairs of neighbours: depth / 2 × queries.
HWY_INLINE void load_queries(const BFloat16* rows, std::int64_t row, int count, int depth,
                             Pair* to) {
  for (int q = 0; q < pair_strip; q += half)
    transpose_pairs(rows + q * row, row, count - q, depth, to + q, pair_strip);
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_POP_ATTRIBUTES

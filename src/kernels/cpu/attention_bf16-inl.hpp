// SPDX-License-Identifier: Apache-2.0
// The common part of both directions of attention of bfloat16, for any unit of the processor that
// multiplies it. Include after attention-inl.hpp, only in the pass of Highway's HWY_AVX3.
//
// Scores are sums of exact products; probabilities p, and the scores' gradients, are rounded to
// bfloat16 before they are multiplied; all sums are fp32. Queries of a strip lie along the vectors
// in scores, as in attention-inl.hpp; the depth does in all that is summed.
//
// Both directions take Products: how a strip of bf16_strip queries is multiplied with a block of n
// keys, of which the first `both` are seen by both halves of the strip, and the others by the upper
// half alone. Depths are multiples of 16. Products has
//   Scope      lives while a thread uses the others
//   in_pairs   whether p, where it is summed over keys, lies as pairs of keys × queries, of which
//              the lower half is read for `both` keys; else p is read whole, as keys × queries
//   pack_queries(rows, row, count, depth, to)   `count` rows of a strip: what multiplies keys
//   pack_rows(rows, row, count, depth, to)      rows of keys or of queries, to be summed
//   times_queries(both, n, keys, row, queries, depth, scores)
//                         scores (keys × queries) = keys · queries
//   sum_over_keys<into>(both, n, count, p, rows, depth, c, factors)
//                         c (queries × depth) = pᵀ · rows, or added to c (· factors), for at least
//                         the first `count` queries
//   sum_over_queries(open, both, n, p, rows, count, c, c_row, depth)
//                         c (keys × depth) = p · rows, over the `count` queries of a strip that see
//                         each key; added to c in the first `open` rows
// Keys lie as in the call; `queries` and `rows` are packed, in no more numbers than as many rows of
// max_head_width have, bf16_strip or key_block.
#pragma once
#include "kernels/cpu/attention_call.hpp"
#include "kernels/cpu/pairs-inl.hpp"

HWY_PUSH_ATTRIBUTES(SINTER_PAIRS_TARGET)
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

using Lanes = Tag<float>;
constexpr int half = 16;
static_assert(bf16_strip == strip<float> && bf16_strip == 2 * half);

HWY_INLINE Vector<float> at(const float* x) { return hn::LoadU(Lanes(), x); }

/// Numbers of two keys, for queries [q, q + half), into rows k and k + 1 of p.
HWY_INLINE void put_rows(__m512i two, BFloat16* p, int k, int q) {
  BFloat16* to = p + k * bf16_strip + q;
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_castsi512_si256(two));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + bf16_strip),
                      _mm512_extracti64x4_epi64(two, 1));
}
/// The same as pairs. requires  k is even
HWY_INLINE void put_pairs(__m512i two, BFloat16* p, int k, int q) {
  _mm512_storeu_si512(p + k * bf16_strip + 2 * q, pair_halves(two));
}

/// Zeros for the keys that the lower half of a strip does not see.
HWY_INLINE void clear_lower(BFloat16* p, int both, int n) {
  for (int k = both; k < n; ++k)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + k * bf16_strip), _mm256_setzero_si256());
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_POP_ATTRIBUTES

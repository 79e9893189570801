// SPDX-License-Identifier: Apache-2.0
// The products of attention by tiles of bfloat16, over a unit of them as AmxProduct asks for it
// (gemm_amx-inl.hpp). Include after attention-inl.hpp, only in the pass of Highway's HWY_AVX3.
//
// Both halves of a strip are multiplied with keys that only the upper one sees; the lower one's p
// are zeros. In causal attention these are the last 16 keys of a strip: to distinguish their tiles
// would cost more than to multiply them.
#pragma once
#include "kernels/cpu/attention_bf16-inl.hpp"
#include "kernels/cpu/gemm_amx-inl.hpp"

HWY_PUSH_ATTRIBUTES(SINTER_PAIRS_TARGET)
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// c · factors of its rows. A block of keys seldom has a score above all before, so that often all
/// factors are one.
HWY_INLINE void scale_rows(float* c, int depth, const float* factors) {
  const auto one = hn::Set(Lanes(), 1.f);
  const auto same = [=](int q) SINTER_PAIRS_ATTR {
    return hn::AllTrue(Lanes(), hn::Eq(at(factors + q), one));
  };
  if (same(0) && same(half)) return;
  for (int q = 0; q < bf16_strip; ++q, c += depth)
    for (int j = 0; j < depth; j += half)
      hn::StoreU(hn::Mul(at(c + j), hn::Set(Lanes(), factors[q])), Lanes(), c + j);
}

/// As attention_bf16-inl.hpp asks for them. What multiplies from the left lies in tiles already:
/// keys in rows of their depth, p in rows of queries. Where p is summed over keys it is transposed,
/// as a block of it is smaller than one of values. What multiplies from the right is packed as
/// panels. Depths may end in half a tile.
template <class Unit>
struct AmxProducts {
  using Product = AmxProduct<Unit>;
  using Numbers = Matrix<const BFloat16>;
  using Scope = typename Unit::Tiles;
  static constexpr bool in_pairs = false;
  static_assert(max_head_width <= Product::depth_block);

  static void pack_queries(const BFloat16* rows, std::int64_t row, int count, int depth,
                           BFloat16* to) {
    Product::pack(Numbers{rows, count, depth, row, true}, 0, depth, 0, count, to);
  }
  static void pack_rows(const BFloat16* rows, std::int64_t row, int count, int depth,
                        BFloat16* to) {
    Product::pack(Numbers{rows, count, depth, row}, 0, count, 0, depth, to);
  }

  static void times_queries(int, int n, const BFloat16* rows, std::int64_t row,
                            const BFloat16* queries, int depth, float* scores) {
    multiply({rows, n, depth, row}, queries, depth, {scores, n, bf16_strip, bf16_strip}, false);
  }

  template <Into into>
  static void sum_over_keys(int, int n, int, const BFloat16* p, const BFloat16* rows, int depth,
                            float* c, const float* factors = nullptr) {
    if (into == Into::scale_and_add) scale_rows(c, depth, factors);
    multiply({p, n, bf16_strip, bf16_strip, true}, rows, n, {c, bf16_strip, depth, depth},
             into != Into::assign);
  }

  static void sum_over_queries(int open, int, int n, const BFloat16* p, const BFloat16* rows, int,
                               float* c, std::int64_t c_row, int depth) {
    const Numbers all{p, n, bf16_strip, bf16_strip};
    const Matrix<float> sums{c, n, depth, c_row};
    if (open > 0) multiply(rows_of(all, 0, open), rows, bf16_strip, rows_of(sums, 0, open), true);
    if (open < n) multiply(rows_of(all, open, n), rows, bf16_strip, rows_of(sums, open, n), false);
  }

 private:
  /// c = a panels, or += with `add`.
  static void multiply(const Numbers& a, const BFloat16* panels, int depth, const Matrix<float>& c,
                       bool add) {
    Product::rows_by_panels(a, 0, 0, panels, depth, c, Addend<float>{}, add);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_POP_ATTRIBUTES

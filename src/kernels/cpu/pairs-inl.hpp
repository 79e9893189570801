// SPDX-License-Identifier: Apache-2.0
// Small products of bfloat16 held in registers, by the instruction that multiplies pairs of them
// and adds both products to a float (AVX-512 BF16). Subnormal numbers count as zero. Include only
// in the pass of Highway's HWY_AVX3, with its attributes and those of avx512bf16.
#pragma once
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "kernels/cpu/tile-inl.hpp"

#define SINTER_PAIRS_TARGET HWY_TARGET_STR ",avx512bf16"
/// What HWY_ATTR is elsewhere: of a lambda.
#define SINTER_PAIRS_ATTR __attribute__((target(SINTER_PAIRS_TARGET)))

HWY_PUSH_ATTRIBUTES(SINTER_PAIRS_TARGET)
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// Two bfloat16, the first in the lower half.
using Pair = std::uint32_t;

/// Pair (i, p) of a matrix is data[i row + p step] and the number behind it.
struct Pairs {
  const BFloat16* data;
  std::int64_t row, step;

  Pairs from(int i, int p) const { return {data + i * row + p * step, row, step}; }
};

/// `Rows` rows and `Vectors` vectors of columns: c = ab, or c + ab, or c factors[i] + ab for row i.
template <Into into, int Rows, int Vectors>
HWY_INLINE void multiply_pair_rows(Pairs a, const Pair* HWY_RESTRICT b, std::int64_t b_step,
                                   int depth, float* c, std::int64_t c_row, const float* factors) {
  __m512 sum[Rows][Vectors];
  SINTER_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SINTER_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      sum[i][v] =
          into == Into::assign ? _mm512_setzero_ps() : _mm512_loadu_ps(c + i * c_row + v * 16);
      if (into == Into::scale_and_add)
        sum[i][v] = _mm512_mul_ps(sum[i][v], _mm512_set1_ps(factors[i]));
    }
  }
  for (int p = 0; p < depth; ++p) {
    __m512bh column[Vectors];
    SINTER_UNROLL
    for (int v = 0; v < Vectors; ++v)
      column[v] = __m512bh(_mm512_loadu_si512(b + p * b_step + v * 16));
    SINTER_UNROLL
    for (int i = 0; i < Rows; ++i) {
      int pair;
      std::memcpy(&pair, a.data + i * a.row + p * a.step, sizeof pair);
      const auto factor = __m512bh(_mm512_set1_epi32(pair));
      SINTER_UNROLL
      for (int v = 0; v < Vectors; ++v) sum[i][v] = _mm512_dpbf16_ps(sum[i][v], factor, column[v]);
    }
  }
  SINTER_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SINTER_UNROLL
    for (int v = 0; v < Vectors; ++v) _mm512_storeu_ps(c + i * c_row + v * 16, sum[i][v]);
  }
}

/// The product of `rows` rows, `Vectors` vectors of columns and `depth` pairs.
template <Into into, int Vectors>
HWY_NOINLINE void multiply_pairs(int rows, Pairs a, const Pair* b, std::int64_t b_step, int depth,
                                 float* c, std::int64_t c_row, const float* factors = nullptr) {
  constexpr int at_once = Vectors == 1 ? 16 : 8;
  int i = 0;
  const auto some = [&](auto n) SINTER_PAIRS_ATTR {
    multiply_pair_rows<into, n(), Vectors>(a.from(i, 0), b, b_step, depth, c + i * c_row, c_row,
                                           into == Into::scale_and_add ? factors + i : nullptr);
  };
  for (; i + at_once <= rows; i += at_once) some(std::integral_constant<int, at_once>());
  for (; i + 4 <= rows; i += 4) some(std::integral_constant<int, 4>());
  for (; i < rows; ++i) some(std::integral_constant<int, 1>());
}

/// The same for `columns` columns, a multiple of 16.
template <Into into>
HWY_INLINE void multiply_pairs_across(int rows, Pairs a, const Pair* b, std::int64_t b_step,
                                      int depth, float* c, std::int64_t c_row, int columns,
                                      const float* factors = nullptr) {
  int j = 0;
  for (; j + 32 <= columns; j += 32)
    multiply_pairs<into, 2>(rows, a, b + j, b_step, depth, c + j, c_row, factors);
  if (j < columns) multiply_pairs<into, 1>(rows, a, b + j, b_step, depth, c + j, c_row, factors);
}

HWY_INLINE __m512i load_16(const BFloat16* from) {
  return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}

/// Pairs of one row and the next: to[r / 2][j] = (from[r][j], from[r + 1][j]), zeros behind the
/// last row. columns: a multiple of 16.
HWY_INLINE void pair_rows(const BFloat16* from, std::int64_t row, int rows, int columns, Pair* to) {
  for (int r = 0; r < rows; r += 2, to += columns)
    for (int j = 0; j < columns; j += 16) {
      __m512i pairs = load_16(from + r * row + j);
      if (r + 1 < rows)
        pairs = _mm512_or_si512(pairs, _mm512_slli_epi32(load_16(from + (r + 1) * row + j), 16));
      _mm512_storeu_si512(to + j, pairs);
    }
}

/// Pairs of neighbours in 16 rows, or zeros behind the last, transposed: to[p][i] = (from[i][2 p],
/// from[i][2 p + 1]), p < columns / 2; rows of `to` are to_row apart. columns: a multiple of 16.
HWY_INLINE void transpose_pairs(const BFloat16* from, std::int64_t row, int rows, int columns,
                                Pair* to, std::int64_t to_row) {
  for (int j = 0; j < columns; j += 32, to += 16 * to_row) {
    const __mmask16 mask = columns - j >= 32 ? 0xffff : 0xff;
    __m512i a[16], b[16];
    SINTER_UNROLL
    for (int i = 0; i < 16; ++i)
      a[i] = i < rows ? _mm512_maskz_loadu_epi32(mask, from + i * row + j) : _mm512_setzero_si512();
    SINTER_UNROLL
    for (int i = 0; i < 16; i += 2) {
      b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
      b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
    }
    SINTER_UNROLL
    for (int i = 0; i < 16; i += 4) {
      a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
      a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
      a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
      a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
    }
    SINTER_UNROLL
    for (int i = 0; i < 4; ++i) {  // column i of each 128 bits, of rows 0-3, 4-7, 8-11, 12-15
      const __m512i low = _mm512_shuffle_i32x4(a[i], a[i + 4], 0x88);
      const __m512i high = _mm512_shuffle_i32x4(a[i + 8], a[i + 12], 0x88);
      const __m512i low2 = _mm512_shuffle_i32x4(a[i], a[i + 4], 0xdd);
      const __m512i high2 = _mm512_shuffle_i32x4(a[i + 8], a[i + 12], 0xdd);
      b[i] = _mm512_shuffle_i32x4(low, high, 0x88);
      b[i + 8] = _mm512_shuffle_i32x4(low, high, 0xdd);
      b[i + 4] = _mm512_shuffle_i32x4(low2, high2, 0x88);
      b[i + 12] = _mm512_shuffle_i32x4(low2, high2, 0xdd);
    }
    SINTER_UNROLL
    for (int i = 0; i < 16; ++i)
      if (2 * i < columns - j) _mm512_storeu_si512(to + i * to_row, b[i]);
  }
}

/// 16 numbers, rounded.
HWY_INLINE void store_rounded(__m512 x, BFloat16* to) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), __m256i(_mm512_cvtneps_pbh(x)));
}

/// Two vectors, rounded: those of x in the lower half.
HWY_INLINE __m512i rounded(__m512 x, __m512 y) { return __m512i(_mm512_cvtne2ps_pbh(y, x)); }

/// Pairs of a number of the lower half and one of the upper half.
HWY_INLINE __m512i pair_halves(__m512i both) {
  const __m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(both));
  const __m512i high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(both, 1));
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

/// Σ x y of `n` numbers, a multiple of 16.
HWY_INLINE float dot_pairs(const BFloat16* x, const BFloat16* y, int n) {
  __m512 sum = _mm512_setzero_ps();
  for (int j = 0; j < n; j += 32) {
    const __mmask16 mask = n - j >= 32 ? 0xffff : 0xff;
    sum = _mm512_dpbf16_ps(sum, __m512bh(_mm512_maskz_loadu_epi32(mask, x + j)),
                           __m512bh(_mm512_maskz_loadu_epi32(mask, y + j)));
  }
  return _mm512_reduce_add_ps(sum);
}

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_POP_ATTRIBUTES

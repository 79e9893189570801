// SPDX-License-Identifier: Apache-2.0
// A product of bfloat16 matrices, or of fp32 matrices rounded to it, by the instruction that
// multiplies pairs of them and adds both products to a float (AVX-512 BF16: AMD from Zen 4, Intel
// from Cooper Lake): after Goto & van de Geijn (2008), as gemm_tiles.cpp. Subnormal numbers count
// as zero.
#include <algorithm>

#include "kernels/cpu/gemm_blocks.hpp"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC's PR105593, in its own headers
#endif
#include <immintrin.h>

#include <hwy/highway.h>
#include <hwy/targets.h>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")
namespace sinter::kernel {
namespace {

constexpr int depth_block = 512, pairs = depth_block / 2;
constexpr int panel = 32;  // columns: two vectors
constexpr int rows_at_once = 12;

template <class T>
using Operand = Matrix<const T>;

__mmask16 first_of(int n) { return __mmask16(n >= 16 ? 0xffff : (1 << std::max(n, 0)) - 1); }

/// Numbers as bfloat16, zeros where the mask has none.
__m256i load_16(const BFloat16* from, __mmask16 mask) {
  return _mm256_maskz_loadu_epi16(mask, from);
}
__m256i load_16(const float* from, __mmask16 mask) {
  return __m256i(_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, from)));
}
__m128i load_8(const BFloat16* from) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}
__m128i load_8(const float* from) { return __m128i(_mm256_cvtneps_pbh(_mm256_loadu_ps(from))); }

/// Numbers as floats, likewise; store() rounds floats to the numbers.
__m512 load_wide(const float* from, __mmask16 mask) { return _mm512_maskz_loadu_ps(mask, from); }
__m512 load_wide(const BFloat16* from, __mmask16 mask) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(load_16(from, mask)), 16));
}
void store(__m512 x, __mmask16 mask, float* to) { _mm512_mask_storeu_ps(to, mask, x); }
void store(__m512 x, __mmask16 mask, BFloat16* to) {
  _mm256_mask_storeu_epi16(to, mask, __m256i(_mm512_cvtneps_pbh(x)));
}

void narrow(const BFloat16* from, int n, BFloat16* to) { std::copy_n(from, n, to); }
void narrow(const float* from, int n, BFloat16* to) {
  for (int i = 0; i < n; i += 16)
    _mm256_mask_storeu_epi16(to + i, first_of(n - i), load_16(from + i, first_of(n - i)));
}

/// Sixteen pairs: numbers of one row below, those of the next row above.
template <class T>
__m512i pair_rows(const T* lower, const T* upper, __mmask16 mask) {
  const __m512i low = _mm512_cvtepu16_epi32(load_16(lower, mask));
  if (!upper) return low;
  const __m512i high = _mm512_cvtepu16_epi32(load_16(upper, mask));
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

/// Four rows of four pairs each, transposed.
template <class T>
void transpose_pairs(const T* from, std::int64_t row, std::uint32_t* to) {
  __m128i r[4];
  for (int i = 0; i < 4; ++i) r[i] = load_8(from + i * row);
  const __m128i a = _mm_unpacklo_epi32(r[0], r[1]), b = _mm_unpackhi_epi32(r[0], r[1]);
  const __m128i c = _mm_unpacklo_epi32(r[2], r[3]), d = _mm_unpackhi_epi32(r[2], r[3]);
  auto* out = reinterpret_cast<__m128i*>(to);
  constexpr int step = panel / 4;
  _mm_storeu_si128(out, _mm_unpacklo_epi64(a, c));
  _mm_storeu_si128(out + step, _mm_unpackhi_epi64(a, c));
  _mm_storeu_si128(out + 2 * step, _mm_unpacklo_epi64(b, d));
  _mm_storeu_si128(out + 3 * step, _mm_unpackhi_epi64(b, d));
}

template <class T>
std::uint32_t pair_at(const T* from, bool both) {
  const std::uint32_t low = BFloat16(from[0]).bits;
  return both ? low | std::uint32_t(BFloat16(from[1]).bits) << 16 : low;
}

/// Pairs of rows [row, row + depth) of op(b), `columns` columns, zeros beyond the end.
template <class T>
void pack_panel(const Operand<T>& b, int row, int depth, int column, int columns,
                std::uint32_t* to) {
  const int count = (depth + 1) / 2;
  if (!b.transposed) {
    for (int q = 0; q < count; ++q)
      for (int half = 0; half < panel; half += 16) {
        const T* lower = element_of(b, row + 2 * q, column + half);
        const T* upper = 2 * q + 1 < depth ? lower + b.stride : nullptr;
        _mm512_storeu_si512(to + q * panel + half,
                            pair_rows(lower, upper, first_of(columns - half)));
      }
    return;
  }
  if (columns < panel) std::fill_n(to, count * panel, 0);
  for (int j = 0; j < columns; j += 4) {
    const T* from = element_of(b, row, column + j);
    int q = 0;
    if (columns - j >= 4)
      for (; 2 * q + 8 <= depth; q += 4)
        transpose_pairs(from + 2 * q, b.stride, to + q * panel + j);
    for (; q < count; ++q)
      for (int i = 0; i < std::min(4, columns - j); ++i)
        to[q * panel + j + i] = pair_at(from + i * b.stride + 2 * q, 2 * q + 1 < depth);
  }
}

/// Pairs of a: pair (i, q) is data[i row + q step].
struct Factors {
  const std::uint32_t* data;
  std::int64_t row, step;
};

/// `Rows` rows of op(a) from (row, column) on, in pairs along the depth.
template <int Rows, class T>
Factors pack_rows(const Operand<T>& a, int row, int column, int depth, std::uint32_t* to) {
  const int count = (depth + 1) / 2;
  if (!a.transposed) {
    for (int i = 0; i < Rows; ++i) {
      const T* from = element_of(a, row + i, column);
      narrow(from, depth, reinterpret_cast<BFloat16*>(to + i * pairs));
      if (depth % 2) to[i * pairs + count - 1] = BFloat16(from[depth - 1]).bits;
    }
    return {to, pairs, 1};
  }
  for (int q = 0; q < count; ++q) {
    const T* lower = element_of(a, row, column + 2 * q);
    const T* upper = 2 * q + 1 < depth ? lower + a.stride : nullptr;
    _mm512_storeu_si512(to + q * 16, pair_rows(lower, upper, first_of(Rows)));
  }
  return {to, 1, 16};
}

/// `Rows` rows of c, one panel wide: c = ab + addend.
template <int Rows, class C>
void tile(Factors a, const std::uint32_t* b, int count, C* c, std::int64_t c_row, int columns,
          Addend<C> addend) {
  __m512 sum[Rows][2];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i) sum[i][0] = sum[i][1] = _mm512_setzero_ps();
  for (int q = 0; q < count; ++q) {
    const auto left = __m512bh(_mm512_loadu_si512(b + q * panel));
    const auto right = __m512bh(_mm512_loadu_si512(b + q * panel + 16));
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const auto factor = __m512bh(_mm512_set1_epi32(int(a.data[i * a.row + q * a.step])));
      sum[i][0] = _mm512_dpbf16_ps(sum[i][0], factor, left);
      sum[i][1] = _mm512_dpbf16_ps(sum[i][1], factor, right);
    }
  }
  const __mmask16 masks[] = {first_of(columns), first_of(columns - 16)};
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
    for (int half = 0; half < 2; ++half) {
      __m512 value = sum[i][half];
      if (addend) value = _mm512_add_ps(load_wide(addend.at(i, 16 * half), masks[half]), value);
      store(value, masks[half], c + i * c_row + 16 * half);
    }
}

template <int Rows, class T, class C>
void across(const Operand<T>& a, int row, int column, const std::uint32_t* panels, int depth, C* c,
            std::int64_t c_row, int columns, Addend<C> addend) {
  alignas(64) std::uint32_t packed[16 * pairs];
  const Factors factors = pack_rows<Rows>(a, row, column, depth, packed);
  for (int j = 0; j < columns; j += panel)
    tile<Rows>(factors, panels + std::int64_t(j) * pairs, (depth + 1) / 2, c + j, c_row,
               std::min(panel, columns - j), addend.from(0, j));
}

/// What blocked_product() asks for. T: BFloat16, or float, which is rounded to it.
template <class T>
struct Pairs {
  using Sum = float;
  using Packed = std::uint32_t;
  static constexpr int depth_block = kernel::depth_block;
  static constexpr int group = 8 * panel, group_packed = group * pairs;
  static constexpr int max_rows = 20 * rows_at_once;

  static void pack(const Operand<T>& b, int row, int depth, int column, int columns,
                   Packed* panels) {
    for (int j = 0; j < columns; j += panel)
      pack_panel(b, row, depth, column + j, std::min(panel, columns - j),
                 panels + std::int64_t(j) * pairs);
  }
  static void put(const float* sums, const BFloat16* addend, BFloat16* to, int n) {
    for (int i = 0; i < n; i += 16) {
      const __mmask16 mask = first_of(n - i);
      const __m512 sum = load_wide(sums + i, mask);
      store(addend ? _mm512_add_ps(load_wide(addend + i, mask), sum) : sum, mask, to + i);
    }
  }
  template <class C>
  static void rows(const Operand<T>& a, int row, int column, const Packed* panels, int depth, C* c,
                   std::int64_t c_row, int rows, int columns, Addend<C> addend) {
    int i = 0;
    for (; i + rows_at_once <= rows; i += rows_at_once)
      across<rows_at_once>(a, row + i, column, panels, depth, c + i * c_row, c_row, columns,
                           addend.from(i, 0));
    for (; i + 4 <= rows; i += 4)
      across<4>(a, row + i, column, panels, depth, c + i * c_row, c_row, columns,
                addend.from(i, 0));
    for (; i < rows; ++i)
      across<1>(a, row + i, column, panels, depth, c + i * c_row, c_row, columns,
                addend.from(i, 0));
  }
};

}  // namespace
}  // namespace sinter::kernel
HWY_POP_ATTRIBUTES

namespace sinter::kernel {

bool has_pairs() {
  static const bool has = (hwy::SupportedTargets() & HWY_AVX3) != 0 &&
                          __builtin_cpu_supports("avx512bf16") &&
                          __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  return has;
}

template <class T, class C>
void gemm_pairs(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend) {
  blocked_product<Pairs<T>>(a, b, c, addend);
}

}  // namespace sinter::kernel

#else
#include <stdexcept>

namespace sinter::kernel {

bool has_pairs() { return false; }

template <class T, class C>
void gemm_pairs(Matrix<const T>, Matrix<const T>, Matrix<C>, Addend<C>) {
  throw std::logic_error("gemm_pairs() on a processor that has_pairs() denies.");
}

}  // namespace sinter::kernel
#endif

namespace sinter::kernel {
template void gemm_pairs(Matrix<const float>, Matrix<const float>, Matrix<float>, Addend<float>);
template void gemm_pairs(Matrix<const BFloat16>, Matrix<const BFloat16>, Matrix<float>,
                         Addend<float>);
template void gemm_pairs(Matrix<const BFloat16>, Matrix<const BFloat16>, Matrix<BFloat16>,
                         Addend<BFloat16>);
}  // namespace sinter::kernel

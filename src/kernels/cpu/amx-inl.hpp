// SPDX-License-Identifier: Apache-2.0
// AMX, as AmxProduct asks for it: tiles 0 to 3 hold sums, 4 and 5 rows of a, 6 and 7 columns of b.
// Packing is by AVX-512. To be included before any header of Highway's vector code.
#pragma once
#include <immintrin.h>

#include <hwy/base.h>

#include <algorithm>
#include <type_traits>

#include "kernels/cpu/gemm.hpp"

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")
#include "kernels/cpu/gemm_amx-inl.hpp"  // has Amx inlined; what it includes is included above

namespace sinter::kernel {
namespace {

HWY_INLINE __mmask16 first_16(int n) {
  return __mmask16(n >= 16 ? 0xffff : (1 << std::max(n, 0)) - 1);
}
HWY_INLINE __mmask32 first_32(int n) {
  return n >= 32 ? ~__mmask32(0) : (__mmask32(1) << std::max(n, 0)) - 1;
}

/// 32 numbers as bfloat16: the first n, then zeros.
HWY_INLINE __m512i load_32(const BFloat16* from, int n) {
  return _mm512_maskz_loadu_epi16(first_32(n), from);
}
HWY_INLINE __m512i load_32(const float* from, int n) {
  return __m512i(_mm512_cvtne2ps_pbh(_mm512_maskz_loadu_ps(first_16(n - 16), from + 16),
                                     _mm512_maskz_loadu_ps(first_16(n), from)));
}
/// Numbers of row i; zeros if there is no such row.
template <class T>
HWY_INLINE __m512i load_row(const T* from, std::int64_t stride, int i, int rows, int n) {
  return i < rows ? load_32(from + i * stride, n) : _mm512_setzero_si512();
}

/// 16 × 16 pairs.
HWY_INLINE void transpose(__m512i (&r)[16]) {
  __m512i t[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

/// 32 rows of 32 numbers in two tiles.
template <class T>
HWY_INLINE void rows_to_tiles(const T* from, std::int64_t stride, int rows, int depth,
                              BFloat16* to) {
#pragma GCC unroll 32
  for (int i = 0; i < 32; ++i)
    _mm512_store_si512(to + i * 32, load_row(from, stride, i, rows, depth));
}

/// Packs from 32 columns of 32 numbers.
template <class T>
HWY_INLINE void columns_to_tiles(const T* from, std::int64_t stride, int rows, int depth,
                                 BFloat16* to) {
  __m512i low[16], high[16];
#pragma GCC unroll 16
  for (int q = 0; q < 16; ++q) {
    const __m512i a = load_row(from, stride, 2 * q, depth, rows),
                  b = load_row(from, stride, 2 * q + 1, depth, rows);
    low[q] = _mm512_unpacklo_epi16(a, b);
    high[q] = _mm512_unpackhi_epi16(a, b);
  }
  // Unpacking has left four rows low, the next four high.
  transpose(low);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) _mm512_store_si512(to + (i / 4 * 8 + i % 4) * 32, low[i]);
  transpose(high);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) _mm512_store_si512(to + (i / 4 * 8 + 4 + i % 4) * 32, high[i]);
}

/// Columns of 32 numbers as 16 rows of pairs, in two tiles of 16 columns.
template <class T>
HWY_INLINE void columns_to_pairs(const T* from, std::int64_t stride, int columns, int depth,
                                 BFloat16* to) {
  for (int half = 0; half < 2; ++half, from += 16 * stride, columns -= 16, to += 16 * 32) {
    __m512i r[16];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) r[i] = load_row(from, stride, i, columns, depth);
    transpose(r);
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) _mm512_store_si512(to + i * 32, r[i]);
  }
}

struct Sums {
  __m512 low, high;
};
HWY_INLINE Sums load_sums(const float* from, __mmask32 mask) {
  return {_mm512_maskz_loadu_ps(__mmask16(mask), from),
          _mm512_maskz_loadu_ps(__mmask16(mask >> 16), from + 16)};
}
HWY_INLINE __m512 widened(__m256i x) {
  return __m512(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}
HWY_INLINE Sums load_sums(const BFloat16* from, __mmask32 mask) {
  const __m512i all = _mm512_maskz_loadu_epi16(mask, from);
  return {widened(_mm512_castsi512_si256(all)), widened(_mm512_extracti64x4_epi64(all, 1))};
}
HWY_INLINE void store_sums(Sums x, __mmask32 mask, float* to) {
  _mm512_mask_storeu_ps(to, __mmask16(mask), x.low);
  _mm512_mask_storeu_ps(to + 16, __mmask16(mask >> 16), x.high);
}
HWY_INLINE void store_sums(Sums x, __mmask32 mask, BFloat16* to) {
  _mm512_mask_storeu_epi16(to, mask, __m512i(_mm512_cvtne2ps_pbh(x.high, x.low)));
}
HWY_INLINE Sums sum(Sums a, Sums b) {
  return {_mm512_add_ps(a.low, b.low), _mm512_add_ps(a.high, b.high)};
}

/// All tiles are 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

struct Amx {
  /// Setting them takes 50 ns. Other libraries set and release them too, so they are not kept
  /// between products.
  struct Tiles {
    Tiles() {
      static constexpr TileShapes shapes;
      _tile_loadconfig(&shapes);
    }
    ~Tiles() { _tile_release(); }
    Tiles(const Tiles&) = delete;
    Tiles& operator=(const Tiles&) = delete;
  };

  // Whole tiles are packed with constants for their sizes, so that there are no masks.
  template <class T>
  static HWY_NOINLINE void pack_rows(const T* from, std::int64_t stride, int rows, int depth,
                                     BFloat16* to) {
    rows >= 32 && depth >= 32 ? rows_to_tiles(from, stride, 32, 32, to)
                              : rows_to_tiles(from, stride, rows, depth, to);
  }
  template <class T>
  static HWY_NOINLINE void pack_columns(const T* from, std::int64_t stride, int rows, int depth,
                                        BFloat16* to) {
    rows >= 32 && depth >= 32 ? columns_to_tiles(from, stride, 32, 32, to)
                              : columns_to_tiles(from, stride, rows, depth, to);
  }
  template <class T>
  static HWY_NOINLINE void pack_panel(const T* from, std::int64_t stride, int columns, int depth,
                                      BFloat16* to) {
    columns >= 32 && depth >= 32 ? columns_to_pairs(from, stride, 32, 32, to)
                                 : columns_to_pairs(from, stride, columns, depth, to);
  }
  template <class T>
  static HWY_INLINE void pack_pair(const T* from, std::int64_t stride, int columns, int depth,
                                   BFloat16* to) {
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                  second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const __m512i a = load_row(from, stride, 0, depth, columns),
                  b = load_row(from, stride, 1, depth, columns);
    const __m512i low = _mm512_unpacklo_epi16(a, b), high = _mm512_unpackhi_epi16(a, b);
    _mm512_store_si512(to, _mm512_permutex2var_epi64(low, first, high));
    _mm512_store_si512(to + 16 * 32, _mm512_permutex2var_epi64(low, second, high));
  }

  /// GCC does not know that tiles are loaded from memory and stored to it.
  static HWY_INLINE void memory_is_used() { asm volatile("" ::: "memory"); }

  static HWY_INLINE void zero_sums() {
    memory_is_used();
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  template <bool TwoRows, bool TwoColumns>
  static HWY_INLINE void load_sums(const float* from, std::int64_t stride) {
    memory_is_used();
    _tile_loadd(0, from, 4 * stride);
    if (TwoColumns) _tile_loadd(1, from + 16, 4 * stride);
    if (TwoRows) _tile_loadd(2, from + 16 * stride, 4 * stride);
    if (TwoRows && TwoColumns) _tile_loadd(3, from + 16 * stride + 16, 4 * stride);
  }
  template <bool TwoRows, bool TwoColumns>
  static HWY_INLINE void store_sums(float* to, std::int64_t stride) {
    _tile_stored(0, to, 4 * stride);
    if (TwoColumns) _tile_stored(1, to + 16, 4 * stride);
    if (TwoRows) _tile_stored(2, to + 16 * stride, 4 * stride);
    if (TwoRows && TwoColumns) _tile_stored(3, to + 16 * stride + 16, 4 * stride);
    memory_is_used();
  }
  template <int I>
  static HWY_INLINE void load_left(const void* from, std::int64_t bytes) {
    if constexpr (I == 0)
      _tile_loadd(4, from, bytes);
    else
      _tile_loadd(5, from, bytes);
  }
  template <int I>
  static HWY_INLINE void load_right(const BFloat16* from) {
    if constexpr (I == 0)
      _tile_loadd(6, from, 64);
    else
      _tile_loadd(7, from, 64);
  }
  template <int I, int J>
  static HWY_INLINE void multiply() {
    if constexpr (I == 0 && J == 0)
      _tile_dpbf16ps(0, 4, 6);
    else if constexpr (I == 0)
      _tile_dpbf16ps(1, 4, 7);
    else if constexpr (J == 0)
      _tile_dpbf16ps(2, 5, 6);
    else
      _tile_dpbf16ps(3, 5, 7);
  }

  template <class C>
  static HWY_INLINE void put(const float* sums, std::int64_t stride, int rows, int columns,
                             Addend<C> addend, C* to, std::int64_t to_stride) {
    const __mmask32 mask = first_32(columns);
    const Sums same = addend && addend.stride == 0 ? kernel::load_sums(addend.data, mask) : Sums{};
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      Sums x = kernel::load_sums(sums + i * stride, ~__mmask32(0));
      if (addend) x = sum(addend.stride == 0 ? same : kernel::load_sums(addend.at(i, 0), mask), x);
      kernel::store_sums(x, mask, to + i * to_stride);
    }
  }
};

}  // namespace
}  // namespace sinter::kernel
HWY_POP_ATTRIBUTES

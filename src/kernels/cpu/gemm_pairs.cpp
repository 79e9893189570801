// A product of bfloat16 matrices by the instruction that multiplies pairs of them and adds both
// products to a float (AVX-512 BF16: AMD from Zen 4, Intel from Cooper Lake): after Goto & van de
// Geijn (2008), as gemm_tiles.cpp. Subnormal numbers count as zero.
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

using Operand = Matrix<const BFloat16>;

const BFloat16* at(const Operand& m, int row, int column) {
  return m.transposed ? m.data + column * m.stride + row : m.data + row * m.stride + column;
}
__mmask16 first_of(int n) { return __mmask16(n >= 16 ? 0xffff : (1 << std::max(n, 0)) - 1); }

/// Sixteen pairs: numbers of one row below, those of the next row above.
__m512i pair_rows(const BFloat16* lower, const BFloat16* upper, __mmask16 mask) {
  const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, lower));
  if (!upper) return low;
  const __m512i high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, upper));
  return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

/// Four rows of four pairs each, transposed.
void transpose_pairs(const BFloat16* from, std::int64_t row, std::uint32_t* to) {
  __m128i r[4];
  for (int i = 0; i < 4; ++i)
    r[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * row));
  const __m128i a = _mm_unpacklo_epi32(r[0], r[1]), b = _mm_unpackhi_epi32(r[0], r[1]);
  const __m128i c = _mm_unpacklo_epi32(r[2], r[3]), d = _mm_unpackhi_epi32(r[2], r[3]);
  auto* out = reinterpret_cast<__m128i*>(to);
  constexpr int step = panel / 4;
  _mm_storeu_si128(out, _mm_unpacklo_epi64(a, c));
  _mm_storeu_si128(out + step, _mm_unpackhi_epi64(a, c));
  _mm_storeu_si128(out + 2 * step, _mm_unpacklo_epi64(b, d));
  _mm_storeu_si128(out + 3 * step, _mm_unpackhi_epi64(b, d));
}

std::uint32_t pair_at(const BFloat16* from, bool both) {
  return from[0].bits | (both ? std::uint32_t(from[1].bits) << 16 : 0);
}

/// Pairs of rows [row, row + depth) of op(b), `columns` columns, zeros beyond the end.
void pack_panel(const Operand& b, int row, int depth, int column, int columns, std::uint32_t* to) {
  const int count = (depth + 1) / 2;
  if (!b.transposed) {
    for (int q = 0; q < count; ++q)
      for (int half = 0; half < panel; half += 16) {
        const BFloat16* lower = at(b, row + 2 * q, column + half);
        const BFloat16* upper = 2 * q + 1 < depth ? lower + b.stride : nullptr;
        _mm512_storeu_si512(to + q * panel + half,
                            pair_rows(lower, upper, first_of(columns - half)));
      }
    return;
  }
  if (columns < panel) std::fill_n(to, count * panel, 0);
  for (int j = 0; j < columns; j += 4) {
    const BFloat16* from = at(b, row, column + j);
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
template <int Rows>
Factors pack_rows(const Operand& a, int row, int column, int depth, std::uint32_t* to) {
  const int count = (depth + 1) / 2;
  if (!a.transposed) {
    for (int i = 0; i < Rows; ++i) {
      const BFloat16* from = at(a, row + i, column);
      std::copy_n(from, depth, reinterpret_cast<BFloat16*>(to + i * pairs));
      if (depth % 2) to[i * pairs + count - 1] = from[depth - 1].bits;
    }
    return {to, pairs, 1};
  }
  for (int q = 0; q < count; ++q) {
    const BFloat16* lower = at(a, row, column + 2 * q);
    const BFloat16* upper = 2 * q + 1 < depth ? lower + a.stride : nullptr;
    _mm512_storeu_si512(to + q * 16, pair_rows(lower, upper, first_of(Rows)));
  }
  return {to, 1, 16};
}

/// `Rows` rows of c, one panel wide: c = ab + addend.
template <int Rows>
void tile(Factors a, const std::uint32_t* b, int count, float* c, std::int64_t c_row, int columns,
          Addend<float> addend) {
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
      float* to = c + i * c_row + 16 * half;
      __m512 value = sum[i][half];
      if (addend)
        value = _mm512_add_ps(_mm512_maskz_loadu_ps(masks[half], addend.at(i, 16 * half)), value);
      _mm512_mask_storeu_ps(to, masks[half], value);
    }
}

template <int Rows>
void across(const Operand& a, int row, int column, const std::uint32_t* panels, int depth, float* c,
            std::int64_t c_row, int columns, Addend<float> addend) {
  alignas(64) std::uint32_t packed[16 * pairs];
  const Factors factors = pack_rows<Rows>(a, row, column, depth, packed);
  for (int j = 0; j < columns; j += panel)
    tile<Rows>(factors, panels + std::int64_t(j) * pairs, (depth + 1) / 2, c + j, c_row,
               std::min(panel, columns - j), addend.from(0, j));
}

/// What blocked_product() asks for.
struct Pairs {
  using Sum = float;
  using Packed = std::uint32_t;
  static constexpr int depth_block = kernel::depth_block;
  static constexpr int group = 8 * panel, group_packed = group * pairs;
  static constexpr int most_rows = 20 * rows_at_once;

  static void pack(const Operand& b, int row, int depth, int column, int columns, Packed* panels) {
    for (int j = 0; j < columns; j += panel)
      pack_panel(b, row, depth, column + j, std::min(panel, columns - j),
                 panels + std::int64_t(j) * pairs);
  }
  static void put(const float* sums, const BFloat16* addend, BFloat16* to, int n) {
    for (int i = 0; i < n; ++i) to[i] = BFloat16(addend ? addend[i] + sums[i] : sums[i]);
  }
  static void rows(const Operand& a, int row, int column, const Packed* panels, int depth, float* c,
                   std::int64_t c_row, int rows, int columns, Addend<float> addend) {
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

template <class C>
void gemm_pairs(Matrix<const BFloat16> a, Matrix<const BFloat16> b, Matrix<C> c, Addend<C> addend) {
  blocked_product<Pairs>(a, b, c, addend);
}

}  // namespace sinter::kernel

#else
#include <stdexcept>

namespace sinter::kernel {

bool has_pairs() { return false; }

template <class C>
void gemm_pairs(Matrix<const BFloat16>, Matrix<const BFloat16>, Matrix<C>, Addend<C>) {
  throw std::logic_error("gemm_pairs() on a processor that has_pairs() denies.");
}

}  // namespace sinter::kernel
#endif

namespace sinter::kernel {
template void gemm_pairs(Matrix<const BFloat16>, Matrix<const BFloat16>, Matrix<float>,
                         Addend<float>);
template void gemm_pairs(Matrix<const BFloat16>, Matrix<const BFloat16>, Matrix<BFloat16>,
                         Addend<BFloat16>);
}  // namespace sinter::kernel

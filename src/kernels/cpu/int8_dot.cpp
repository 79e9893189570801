// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/int8.hpp"

#if defined(__x86_64__)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC's PR105593, in its own headers
#endif
#include <immintrin.h>

#include <cstring>

#include <hwy/highway.h>
#include <hwy/targets.h>

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,f16c,fma")
namespace sinter::kernel {
namespace {

__m512i four_of(const std::int8_t* x) {
  int four;
  std::memcpy(&four, x, sizeof four);
  return _mm512_set1_epi32(four);
}

/// Products of `Rows` rows from `row` on.
template <int Rows>
void multiply(const Int8Rows& x, int row, const std::byte* tile, float* sums) {
  const int groups = x.groups();
  __m512 sum[Rows];
  for (int i = 0; i < Rows; ++i) sum[i] = _mm512_setzero_ps();
  for (int g = 0; g < groups; ++g) {
    const __m512 scales =
        _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(tile)));
    tile += 2 * int8_tile;
    const std::int8_t* from[Rows];
    __m512i whole[Rows];
    for (int i = 0; i < Rows; ++i) {
      from[i] = x.values + std::int64_t(row + i) * x.columns + g * x.group;
      whole[i] = _mm512_set1_epi32(-x.offsets[std::int64_t(row + i) * groups + g]);
    }
    for (int k = 0; k < x.group; k += 4) {
      const __m512i weights = _mm512_loadu_si512(tile);
      tile += 4 * int8_tile;
      for (int i = 0; i < Rows; ++i)
        whole[i] = _mm512_dpbusd_epi32(whole[i], weights, four_of(from[i] + k));
    }
    for (int i = 0; i < Rows; ++i) {
      const __m512 scale = _mm512_set1_ps(x.scales[std::int64_t(row + i) * groups + g]);
      sum[i] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole[i]), _mm512_mul_ps(scales, scale), sum[i]);
    }
  }
  for (int i = 0; i < Rows; ++i) _mm512_storeu_ps(sums + std::int64_t(row + i) * int8_tile, sum[i]);
}

}  // namespace

void int8_tile_product_by_dot(const Int8Rows& x, const std::byte* tile, float* sums) {
  int row = 0;
  for (; row + 8 <= x.rows; row += 8) multiply<8>(x, row, tile, sums);
  for (; row + 4 <= x.rows; row += 4) multiply<4>(x, row, tile, sums);
  for (; row + 2 <= x.rows; row += 2) multiply<2>(x, row, tile, sums);
  for (; row < x.rows; ++row) multiply<1>(x, row, tile, sums);
}

}  // namespace sinter::kernel
HWY_POP_ATTRIBUTES

namespace sinter::kernel {

bool has_int8_dot() {
  static const bool has =
      (hwy::SupportedTargets() & HWY_AVX3) != 0 && __builtin_cpu_supports("avx512vnni");
  return has;
}

}  // namespace sinter::kernel

#else
#include <stdexcept>

namespace sinter::kernel {

bool has_int8_dot() { return false; }

void int8_tile_product_by_dot(const Int8Rows&, const std::byte*, float*) {
  throw std::logic_error("int8_tile_product_by_dot() on a processor that has_int8_dot() denies.");
}

}  // namespace sinter::kernel
#endif

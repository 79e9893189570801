// SPDX-License-Identifier: Apache-2.0
// Eight tiles of bfloat16 in plain C++, as AmxProduct asks for them (kernels/cpu/gemm_amx-inl.hpp):
// on every processor it multiplies with them as on one with AMX.
#pragma once
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu/gemm_amx-inl.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sinter::detail::testing {

struct EmulatedTiles {
  using Sums = float[16][16];
  using Numbers = float[16][32];  // of bfloat16

  /// Of the calling thread.
  struct State {
    Sums sums[2][2];
    Numbers left[2], right[2];
  };
  static inline thread_local State* state = nullptr;

  /// Begins with numbers that spoil every sum.
  struct Tiles {
    State own;
    Tiles() {
      std::memset(static_cast<void*>(&own), 0xff, sizeof own);
      state = &own;
    }
    ~Tiles() { state = nullptr; }
    Tiles(const Tiles&) = delete;
    Tiles& operator=(const Tiles&) = delete;
  };

  template <class T>
  static BFloat16 number(const T* from, bool there) {
    return there ? BFloat16(float(*from)) : BFloat16(0.f);
  }

  template <class T>
  static void pack_rows(const T* from, std::int64_t stride, int rows, int depth, BFloat16* to) {
    for (int i = 0; i < 32; ++i)
      for (int p = 0; p < 32; ++p)
        to[i * 32 + p] = number(from + i * stride + p, i < rows && p < depth);
  }
  template <class T>
  static void pack_columns(const T* from, std::int64_t stride, int rows, int depth, BFloat16* to) {
    for (int i = 0; i < 32; ++i)
      for (int p = 0; p < 32; ++p)
        to[i * 32 + p] = number(from + p * stride + i, i < rows && p < depth);
  }
  template <class T>
  static void pack_pair(const T* from, std::int64_t stride, int columns, int depth, BFloat16* to) {
    for (int j = 0; j < 32; ++j)
      for (int p = 0; p < 2; ++p)
        to[j / 16 * 512 + j % 16 * 2 + p] = number(from + p * stride + j, j < columns && p < depth);
  }
  template <class T>
  static void pack_panel(const T* from, std::int64_t stride, int columns, int depth, BFloat16* to) {
    for (int j = 0; j < 32; ++j)
      for (int p = 0; p < 32; ++p)
        to[j / 16 * 512 + p / 2 * 32 + j % 16 * 2 + p % 2] =
            number(from + j * stride + p, j < columns && p < depth);
  }

  static void zero_sums() { std::memset(state->sums, 0, sizeof state->sums); }
  template <bool TwoRows, bool TwoColumns>
  static void load_sums(const float* from, std::int64_t stride) {
    each<TwoRows, TwoColumns>([&](float& sum, int i, int j) { sum = from[i * stride + j]; });
  }
  template <bool TwoRows, bool TwoColumns>
  static void store_sums(float* to, std::int64_t stride) {
    each<TwoRows, TwoColumns>([&](float& sum, int i, int j) { to[i * stride + j] = sum; });
  }
  template <int I>
  static void load_left(const void* from, std::int64_t bytes) {
    load(state->left[I], from, bytes);
  }
  template <int I>
  static void load_right(const BFloat16* from) {
    load(state->right[I], from, 64);
  }

  /// TDPBF16PS of Intel's manual: even and odd products are summed apart, then together. Subnormal
  /// numbers are zero.
  template <int I, int J>
  static void multiply() {
    for (int i = 0; i < 16; ++i) {
      float pairs[32] = {};  // an even and an odd sum of each column
      add_products(state->left[I][i], state->right[J], pairs);
      for (int j = 0; j < 16; ++j) {
        float& sum = state->sums[I][J][i][j];
        sum = flushed(flushed(sum) + flushed(pairs[2 * j] + pairs[2 * j + 1]));
      }
    }
  }

  template <class C>
  static void put(const float* sums, std::int64_t stride, int rows, int columns,
                  kernel::Addend<C> addend, C* to, std::int64_t to_stride) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < std::min(columns, 32); ++j) {
        const float sum = sums[i * stride + j];
        to[i * to_stride + j] = C(addend ? float(*addend.at(i, j)) + sum : sum);
      }
  }

 private:
  static constexpr float least = std::numeric_limits<float>::min();
  static float flushed(float x) { return std::abs(x) < least ? 0 * x : x; }

  static void add_products(const float* left, const Numbers& right, float (&pairs)[32]) {
#if defined(__x86_64__)  // std::fma is a call there, and these are nearly all of the tests' time
    static const bool fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (fused) return add_products_fused(left, right, pairs);
#endif
    for (int q = 0; q < 16; ++q)
      for (int j = 0; j < 32; ++j)
        pairs[j] = flushed(std::fma(left[2 * q + j % 2], right[q][j], pairs[j]));
  }
#if defined(__x86_64__)
  __attribute__((target("avx2,fma"))) static void add_products_fused(const float* left,
                                                                     const Numbers& right,
                                                                     float (&pairs)[32]) {
    const __m256 sign = _mm256_set1_ps(-0.f), normal = _mm256_set1_ps(least);
    for (int j = 0; j < 32; j += 8) {
      __m256 sum = _mm256_loadu_ps(pairs + j);
      for (int q = 0; q < 16; ++q) {
        const __m256 pair =
            _mm256_setr_ps(left[2 * q], left[2 * q + 1], left[2 * q], left[2 * q + 1], left[2 * q],
                           left[2 * q + 1], left[2 * q], left[2 * q + 1]);
        sum = _mm256_fmadd_ps(pair, _mm256_loadu_ps(right[q] + j), sum);
        const __m256 magnitude = _mm256_andnot_ps(sign, sum);
        sum = _mm256_blendv_ps(sum, _mm256_and_ps(sign, sum),
                               _mm256_cmp_ps(magnitude, normal, _CMP_LT_OQ));
      }
      _mm256_storeu_ps(pairs + j, sum);
    }
  }
#endif

  static void load(Numbers& to, const void* from, std::int64_t bytes) {
    for (int i = 0; i < 16; ++i) {
      BFloat16 row[32];
      std::memcpy(static_cast<void*>(row), static_cast<const char*>(from) + i * bytes, sizeof row);
      for (int p = 0; p < 32; ++p) to[i][p] = flushed(float(row[p]));
    }
  }

  template <bool TwoRows, bool TwoColumns>
  static void each(const auto& visit) {
    for (int i = 0; i < (TwoRows ? 32 : 16); ++i)
      for (int j = 0; j < (TwoColumns ? 32 : 16); ++j)
        visit(state->sums[i / 16][j / 16][i % 16][j % 16], i, j);
  }
};

}  // namespace sinter::detail::testing

// SPDX-License-Identifier: Apache-2.0
// A matrix product for few rows of narrow elements, as gemm_few.cpp for wide ones: b is read once, as
// it lies, and widened in registers. So one row is multiplied as fast as memory gives the narrow b.
#include <algorithm>

#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm_few_narrow.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/tile-inl.hpp"

#ifndef SINTER_FEW_NARROW_TABLE
#define SINTER_FEW_NARROW_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides.
template <class T, class C>
struct FewNarrowTable {
  void (*product)(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

constexpr int block = 1024;  // of the depth
constexpr int tile = 1024;   // columns of c that are summed at once
using Floats = hn::ScalableTag<float>;

/// Rows of op(a) within a block of the depth, and sums of columns of c, all as floats.
struct FewRows {
  HWY_ALIGN float factors[(min_rows - 1) * block];
  HWY_ALIGN float sums[(min_rows - 1) * tile];
};

/// sums += `Rows` rows of factors times `Vectors` vectors of columns of b, as it is stored.
template <int Rows, int Vectors, class T>
HWY_INLINE void add_across(const float* factors, const T* b, std::int64_t b_step, int depth,
                           float* sums) {
  const Floats d;
  const int lanes = int(hn::Lanes(d));
  hn::Vec<Floats> sum[Rows][Vectors];
  SINTER_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SINTER_UNROLL
    for (int v = 0; v < Vectors; ++v) sum[i][v] = hn::LoadU(d, sums + i * tile + v * lanes);
  }
  for (int p = 0; p < depth; ++p) {
    hn::Vec<Floats> column[Vectors];
    SINTER_UNROLL
    for (int v = 0; v < Vectors; ++v) column[v] = load(d, b + p * b_step + v * lanes);
    SINTER_UNROLL
    for (int i = 0; i < Rows; ++i) {
      const auto factor = hn::Set(d, factors[i * block + p]);
      SINTER_UNROLL
      for (int v = 0; v < Vectors; ++v) sum[i][v] = hn::MulAdd(factor, column[v], sum[i][v]);
    }
  }
  SINTER_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SINTER_UNROLL
    for (int v = 0; v < Vectors; ++v) hn::StoreU(sum[i][v], d, sums + i * tile + v * lanes);
  }
}

/// All columns of a tile, `Rows` rows. For one or two of them long parts of rows of b are read in
/// order, as memory gives them fastest.
template <int Rows, class T>
HWY_NOINLINE void across(const float* factors, const T* b, std::int64_t b_step, int depth,
                         int columns, float* sums) {
  constexpr int lanes = int(hn::MaxLanes(Floats())), vectors = 2;
  int j = 0;
  if constexpr (Rows < 4) {
    add_all_steps<Rows>(Strided<float>{factors, block, 1}, b, b_step, depth, columns, sums, tile);
    j = columns / lanes * lanes;
  } else {
    for (; j + vectors * lanes <= columns; j += vectors * lanes)
      add_across<Rows, vectors>(factors, b + j, b_step, depth, sums + j);
    for (; j + lanes <= columns; j += lanes)
      add_across<Rows, 1>(factors, b + j, b_step, depth, sums + j);
  }
  for (; j < columns; ++j)
    for (int i = 0; i < Rows; ++i) {
      float sum = sums[i * tile + j];
      for (int p = 0; p < depth; ++p) sum += factors[i * block + p] * float(b[p * b_step + j]);
      sums[i * tile + j] = sum;
    }
}

/// sums += `Rows` rows of factors times `Columns` columns of op(b), which are rows of b.
template <int Rows, int Columns, class T>
HWY_NOINLINE void add_along(const float* factors, const T* b, std::int64_t b_row, int depth,
                            float* sums) {
  const Floats d;
  const int lanes = int(hn::Lanes(d)), whole = depth - depth % lanes;
  hn::Vec<Floats> sum[Rows][Columns];
  SINTER_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SINTER_UNROLL
    for (int j = 0; j < Columns; ++j) sum[i][j] = hn::Zero(d);
  }
  for (int p = 0; p < whole; p += lanes) {
    SINTER_UNROLL
    for (int j = 0; j < Columns; ++j) {
      const auto column = load(d, b + j * b_row + p);
      SINTER_UNROLL
      for (int i = 0; i < Rows; ++i)
        sum[i][j] = hn::MulAdd(hn::LoadU(d, factors + i * block + p), column, sum[i][j]);
    }
  }
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Columns; ++j) {
      float rest = 0;
      for (int p = whole; p < depth; ++p) rest += factors[i * block + p] * float(b[j * b_row + p]);
      sums[i * tile + j] += reduce_sum(d, sum[i][j]) + rest;
    }
}

/// All columns of a tile, `Rows` rows.
template <int Rows, class T>
void along(const float* factors, const T* b, std::int64_t b_row, int depth, int columns,
           float* sums) {
  int j = 0;
  for (; j + 4 <= columns; j += 4)
    add_along<Rows, 4>(factors, b + j * b_row, b_row, depth, sums + j);
  for (; j < columns; ++j) add_along<Rows, 1>(factors, b + j * b_row, b_row, depth, sums + j);
}

/// sums += columns [first, first + columns) of the product, over a block of the depth.
template <class T>
void add_block(FewRows& few, int rows, Matrix<const T> b, int p, int depth, int first,
               int columns) {
  int i = 0;
  const auto next = [&](auto count) {
    constexpr int n = decltype(count)::value;
    const float* const factors = few.factors + i * block;
    float* const sums = few.sums + i * tile;
    if (b.transposed) {
      along<n>(factors, b.data + first * b.stride + p, b.stride, depth, columns, sums);
    } else {
      across<n>(factors, b.data + p * b.stride + first, b.stride, depth, columns, sums);
    }
    i += n;
  };
  while (i + 4 <= rows) next(std::integral_constant<int, 4>());
  while (i + 2 <= rows) next(std::integral_constant<int, 2>());
  while (i < rows) next(std::integral_constant<int, 1>());
}

template <class T, class C>
void product(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend) {
  const int depth = a.transposed ? a.rows : a.columns;
  const std::int64_t row = a.transposed ? 1 : a.stride, step = a.transposed ? a.stride : 1;
  FewRows few;
  for (int first = 0; first < c.columns; first += tile) {
    const int columns = std::min(tile, c.columns - first);
    std::fill_n(few.sums, c.rows * tile, 0.f);
    for (int p = 0; p < depth; p += block) {
      const int n = std::min(block, depth - p);
      for (int i = 0; i < c.rows; ++i)
        for (int q = 0; q < n; ++q)
          few.factors[i * block + q] = float(a.data[i * row + (p + q) * step]);
      add_block(few, c.rows, b, p, n, first, columns);
    }
    for (int i = 0; i < c.rows; ++i)
      for (int j = 0; j < columns; ++j) {
        const float sum = few.sums[i * tile + j];
        c.data[i * c.stride + first + j] = C(addend ? float(*addend.at(i, first + j)) + sum : sum);
      }
  }
}

#define SINTER_FEW_NARROW(T, name)                        \
  FewNarrowTable<T, T> name() { return {product<T, T>}; } \
  FewNarrowTable<T, float> name##_to_f32() { return {product<T, float>}; }
SINTER_FEW_NARROW(BFloat16, table_bf16)
SINTER_FEW_NARROW(Float16, table_f16)
#undef SINTER_FEW_NARROW

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
HWY_EXPORT(table_bf16);
HWY_EXPORT(table_bf16_to_f32);
HWY_EXPORT(table_f16);
HWY_EXPORT(table_f16_to_f32);
}  // namespace

template <class T, class C>
void gemm_few_narrow(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend) {
  if constexpr (std::is_same_v<T, BFloat16> && std::is_same_v<C, BFloat16>) {
    HWY_DYNAMIC_DISPATCH(table_bf16)().product(a, b, c, addend);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    HWY_DYNAMIC_DISPATCH(table_bf16_to_f32)().product(a, b, c, addend);
  } else if constexpr (std::is_same_v<C, Float16>) {
    HWY_DYNAMIC_DISPATCH(table_f16)().product(a, b, c, addend);
  } else {
    HWY_DYNAMIC_DISPATCH(table_f16_to_f32)().product(a, b, c, addend);
  }
}

#define SINTER_INSTANTIATE(T)                                                            \
  template void gemm_few_narrow(Matrix<const T>, Matrix<const T>, Matrix<T>, Addend<T>); \
  template void gemm_few_narrow(Matrix<const T>, Matrix<const T>, Matrix<float>, Addend<float>);
SINTER_EACH_NARROW(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE

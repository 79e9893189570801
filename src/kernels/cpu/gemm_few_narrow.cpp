// SPDX-License-Identifier: Apache-2.0
// A matrix product for few rows of narrow elements, as gemm_few.cpp for wide ones: b is read once, as
// it lies, and widened in registers. So one row is multiplied as fast as memory gives the narrow b.
#include <algorithm>

#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm_few_narrow.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/few_rows-inl.hpp"

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
using Floats = hn::ScalableTag<float>;

/// Rows of op(a) within a block of the depth, and sums of columns of c, all as floats. Rows of sums
/// are `tile` apart, and those of factors `block`; where b is not transposed, factors lie as
/// add_all_steps() takes them.
struct FewRows {
  int rows, tile;
  HWY_ALIGN float factors[min_rows * block];
  HWY_ALIGN float sums[sums_at_once];
};

/// sums += `Rows` rows of factors times `Columns` columns of op(b), which are rows of b.
template <int Rows, int Columns, class T>
HWY_NOINLINE void add_along(const float* factors, const T* b, std::int64_t b_row, int depth,
                            float* sums, int tile, Ahead<T>* ahead) {
  const Floats d;
  const int lanes = int(hn::Lanes(d)), whole = depth - depth % lanes;
  hn::Vec<Floats> sum[Rows][Columns];
  SINTER_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SINTER_UNROLL
    for (int j = 0; j < Columns; ++j) sum[i][j] = hn::Zero(d);
  }
  for (int p = 0; p < whole; p += lanes) {
    if (ahead) ahead->ask(Columns * int(hn::MaxLanes(d) * sizeof(T)));
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

/// sums += a single row of factors times columns of op(b). A sum waits for its last term longer than
/// for memory, so two are taken in turns.
template <class T>
HWY_NOINLINE void add_line(const float* factors, const T* b, std::int64_t b_row, int depth,
                           int columns, float* sums) {
  int j = 0;
  const auto add = [&](auto count) HWY_ATTR {
    constexpr int n = decltype(count)::value;
    const T* next = b + (j + n) * b_row;
    float more[n];
    dots<n>(factors, b + j * b_row, b_row, depth, next, more);
    for (int k = 0; k < n; ++k, ++j) sums[j] += more[k];
  };
  while (j + 2 <= columns) add(std::integral_constant<int, 2>());
  while (j < columns) add(std::integral_constant<int, 1>());
}

/// sums += all rows of factors times `Columns` columns of op(b).
template <int Columns, class T>
void add_down(FewRows& few, int column, const T* b, std::int64_t b_row, int depth,
              Ahead<T>* ahead) {
  int i = 0;
  const auto next = [&](auto count) {
    constexpr int n = decltype(count)::value;
    add_along<n, Columns>(few.factors + i * block, b, b_row, depth,
                          few.sums + i * few.tile + column, few.tile, i == 0 ? ahead : nullptr);
    i += n;
  };
  while (i + 4 <= few.rows) next(std::integral_constant<int, 4>());
  while (i + 2 <= few.rows) next(std::integral_constant<int, 2>());
  while (i < few.rows) next(std::integral_constant<int, 1>());
}

/// Widens the factors of a block of the depth. Element (i, p) of a is a.data[i a.row + p a.step].
template <class T>
void widen_factors(Strided<T> a, int depth, bool along, FewRows& few) {
  for (int i = 0; i < few.rows; ++i)
    for (int p = 0; p < depth; ++p)
      few.factors[along || few.rows == 1 ? i * block + p : p * min_rows + i] =
          float(a.data[i * a.row + p * a.step]);
}

/// sums += columns [first, first + columns) of the product, over a block of the depth.
template <class T>
void add_block(FewRows& few, Matrix<const T> b, int p, int depth, int first, int columns) {
  if (!b.transposed)
    return add_all_steps(few.rows, Factors<float>{few.factors, few.rows == 1 ? 1 : min_rows},
                         b.data + p * b.stride + first, b.stride, depth, columns,
                         steps_for(few.rows, b), few.sums, few.tile);
  if (few.rows == 1)
    return add_line(few.factors, b.data + first * b.stride + p, b.stride, depth, columns, few.sums);
  for_columns(few.rows, columns, [&](auto count, int j) {
    constexpr int n = decltype(count)::value;
    const T* const at = b.data + (first + j) * b.stride + p;
    Ahead<T> ahead(at + n * b.stride, depth, b.stride);
    add_down<n>(few, j, at, b.stride, depth, n > 1 ? &ahead : nullptr);
  });
}

template <class T, class C>
void product(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend) {
  const int depth = a.transposed ? a.rows : a.columns;
  const Strided<T> factors{a.data, a.transposed ? 1 : a.stride, a.transposed ? a.stride : 1};
  FewRows few;
  few.rows = c.rows;
  few.tile = columns_at_once(c.rows);
  for (int first = 0; first < c.columns; first += few.tile) {
    const int columns = std::min(few.tile, c.columns - first);
    for (int i = 0; i < c.rows; ++i) std::fill_n(few.sums + i * few.tile, columns, 0.f);
    for (int p = 0; p < depth; p += block) {
      const int n = std::min(block, depth - p);
      if (first == 0 || depth > block) widen_factors(factors.from(0, p), n, b.transposed, few);
      add_block(few, b, p, n, first, columns);
    }
    for (int i = 0; i < c.rows; ++i) {
      float* const sums = few.sums + i * few.tile;
      if (!b.transposed) put_in_order<T>(columns, sums);
      const C* const other = addend.at(i, first);
      C* const to = c.data + i * c.stride + first;
      for_each<C>(columns, [&](auto d, std::int64_t j) HWY_ATTR {
        const auto sum = hn::LoadU(d, sums + j);
        store(other ? hn::Add(load(d, other + j), sum) : sum, d, to + j);
      });
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

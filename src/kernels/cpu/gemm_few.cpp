// SPDX-License-Identifier: Apache-2.0
// A matrix product of our own for few rows, where packing the other matrix would cost more than it
// gains: b is read as it lies. Where b is not transposed, its rows are added to sums of many columns;
// where it is, both factors lie along the depth, and lanes are summed at its end. Each element of c is
// summed over blocks of the depth in order, whatever lies beside it, so how c is cut into tiles does
// not change a bit.
#include <algorithm>

#include "kernels/cpu/gemm.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm_few.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/few_rows-inl.hpp"

#ifndef SINTER_FEW_TABLE
#define SINTER_FEW_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides.
template <class T>
struct FewTable {
  void (*product)(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, Addend<T> addend);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

constexpr int depth_block = 256;

/// A part of c, and what is added to it.
template <class T>
struct Target {
  T* data;
  std::int64_t row;
  Addend<T> addend;

  Target from(int i, int j) const { return {data + i * row + j, row, addend.from(i, j)}; }
};

/// c = ab + addend over a block of the depth, with b as it is stored, of which `steps` rows are taken
/// at once.
template <class T>
void multiply_stored(Factors<T> factors, int rows, Matrix<const T> b, int steps, Target<T> c) {
  HWY_ALIGN T sums[sums_at_once];
  const int at_once = columns_at_once(rows);
  for (int first = 0; first < b.columns; first += at_once) {
    const int columns = std::min(at_once, b.columns - first);
    for (int i = 0; i < rows; ++i) std::fill_n(sums + i * at_once, columns, T(0));
    add_all_steps(rows, factors, b.data + first, b.stride, b.rows, columns, steps, sums, at_once);
    for (int i = 0; i < rows; ++i) {
      const Target<T> to = c.from(i, first);
      for_each<T>(columns, [&](auto d, std::int64_t j) HWY_ATTR {
        const auto sum = hn::LoadU(d, sums + i * at_once + j);
        hn::StoreU(to.addend ? hn::Add(hn::LoadU(d, to.addend.data + j), sum) : sum, d,
                   to.data + j);
      });
    }
  }
}

/// `Rows` rows and `Columns` columns of c. Rows of a are a_row apart, and columns of op(b) are rows of
/// b.
template <int Rows, int Columns, class T>
HWY_NOINLINE void multiply_along(const T* a, std::int64_t a_row, const T* b, std::int64_t b_row,
                                 int depth, Target<T> c, Ahead<T>* ahead) {
  const hn::ScalableTag<T> d;
  const int lanes = int(hn::Lanes(d)), whole = depth - depth % lanes;
  hn::Vec<decltype(d)> sum[Rows][Columns];
  SINTER_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SINTER_UNROLL
    for (int j = 0; j < Columns; ++j) sum[i][j] = hn::Zero(d);
  }
  for (int p = 0; p < whole; p += lanes) {
    if (ahead) ahead->ask(Columns * int(hn::MaxLanes(d) * sizeof(T)));
    SINTER_UNROLL
    for (int j = 0; j < Columns; ++j) {
      const auto column = hn::LoadU(d, b + j * b_row + p);
      SINTER_UNROLL
      for (int i = 0; i < Rows; ++i)
        sum[i][j] = hn::MulAdd(hn::LoadU(d, a + i * a_row + p), column, sum[i][j]);
    }
  }
  SINTER_UNROLL
  for (int i = 0; i < Rows; ++i) {
    SINTER_UNROLL
    for (int j = 0; j < Columns; ++j) {
      const hn::CappedTag<T, 1> one;
      auto rest = hn::Zero(one);
      for (int p = whole; p < depth; ++p)
        rest = hn::MulAdd(hn::Set(one, a[i * a_row + p]), hn::Set(one, b[j * b_row + p]), rest);
      const T all = reduce_sum(d, sum[i][j]) + hn::GetLane(rest);
      const Target<T> to = c.from(i, j);
      *to.data = to.addend ? *to.addend.data + all : all;
    }
  }
}

/// All rows of c and `Columns` columns.
template <int Columns, class T>
void down(const T* a, std::int64_t a_row, int rows, const T* b, std::int64_t b_row, int depth,
          Target<T> c, Ahead<T>* ahead) {
  int i = 0;
  for (; i + 2 <= rows; i += 2)
    multiply_along<2, Columns>(a + i * a_row, a_row, b, b_row, depth, c.from(i, 0),
                               i == 0 ? ahead : nullptr);
  if (i < rows)
    multiply_along<1, Columns>(a + i * a_row, a_row, b, b_row, depth, c.from(i, 0),
                               i == 0 ? ahead : nullptr);
}

/// A single row of c: columns of op(b) are taken one after the other, as they lie.
template <class T>
HWY_NOINLINE void multiply_line(const T* a, Matrix<const T> b, int depth, Target<T> c) {
  for (int j = 0; j < b.rows; ++j) {
    const T* const column = b.data + j * b.stride;
    const T* next = column + std::min(depth, depth_block);
    T sum, more;
    dots<1>(a, column, b.stride, std::min(depth, depth_block), next, &sum);
    if (c.addend) sum = *c.addend.at(0, j) + sum;
    for (int p = depth_block; p < depth; p += depth_block) {
      dots<1>(a + p, column + p, b.stride, std::min(depth - p, depth_block), next, &more);
      sum += more;
    }
    c.data[j] = sum;
  }
}

/// The whole product where rows of op(a) and columns of op(b) lie one number behind the other: each
/// of these is read as a whole.
template <class T>
void multiply_lines(Strided<T> a, int rows, Matrix<const T> b, int depth, Target<T> c) {
  if (rows == 1) return multiply_line(a.data, b, depth, c);
  for_columns(rows, b.rows, [&](auto count, int j) {
    constexpr int n = decltype(count)::value;
    Ahead<T> ahead(b.data + (j + n) * b.stride, depth, b.stride);
    Target<T> to = c.from(0, j);
    for (int p = 0; p < depth; p += depth_block) {
      down<n>(a.data + p, a.row, rows, b.data + j * b.stride + p, b.stride,
              std::min(depth_block, depth - p), to, n > 1 ? &ahead : nullptr);
      to.addend = {to.data, to.row};
    }
  });
}

/// A block of the depth. Columns [p, p + depth) of op(a) and those rows of op(b) take part.
template <class T>
void multiply_block(Strided<T> a, int rows, Matrix<const T> b, int p, int depth, Target<T> c) {
  if (!b.transposed) {
    const int steps = steps_for(rows, b);
    if (rows == 1)
      return multiply_stored(Factors<T>{a.from(0, p).data, a.step}, 1, rows_of(b, p, p + depth),
                             steps, c);
    HWY_ALIGN T factors[min_rows * depth_block];
    for (int q = 0; q < depth; ++q)
      for (int i = 0; i < rows; ++i)
        factors[q * min_rows + i] = a.data[i * a.row + (p + q) * a.step];
    return multiply_stored(Factors<T>{factors, min_rows}, rows, rows_of(b, p, p + depth), steps, c);
  }
  HWY_ALIGN T factors[(min_rows - 1) * depth_block];
  for (int i = 0; i < rows; ++i)
    for (int q = 0; q < depth; ++q)
      factors[i * depth_block + q] = a.data[i * a.row + (p + q) * a.step];
  const T* columns = b.data + p;
  for_columns(rows, b.rows, [&](auto count, int j) {
    down<decltype(count)::value>(factors, depth_block, rows, columns + j * b.stride, b.stride,
                                 depth, c.from(0, j), static_cast<Ahead<T>*>(nullptr));
  });
}

template <class T>
void product(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, Addend<T> addend) {
  const int depth = a.transposed ? a.rows : a.columns;
  const Strided<T> factors{a.data, a.transposed ? 1 : a.stride, a.transposed ? a.stride : 1};
  if (b.transposed && factors.step == 1)
    return multiply_lines(factors, c.rows, b, depth, Target<T>{c.data, c.stride, addend});
  for (int p = 0; p < depth; p += depth_block) {
    multiply_block(factors, c.rows, b, p, std::min(depth_block, depth - p),
                   Target<T>{c.data, c.stride, addend});
    addend = {c.data, c.stride};
  }
}

FewTable<float> table_f32() { return {product<float>}; }
FewTable<double> table_f64() { return {product<double>}; }

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
HWY_EXPORT(table_f32);
HWY_EXPORT(table_f64);
}  // namespace

template <class T>
void gemm_few(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, Addend<T> addend) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(table_f32)().product(a, b, c, addend);
  } else {
    HWY_DYNAMIC_DISPATCH(table_f64)().product(a, b, c, addend);
  }
}

template void gemm_few(Matrix<const float>, Matrix<const float>, Matrix<float>, Addend<float>);
template void gemm_few(Matrix<const double>, Matrix<const double>, Matrix<double>, Addend<double>);

}  // namespace sinter::kernel
#endif  // HWY_ONCE

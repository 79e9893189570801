// SPDX-License-Identifier: Apache-2.0
// A matrix product of our own, after Goto & van de Geijn (2008): panels of b are packed so that
// they stay in the second-level cache, tiles of c stay in registers. Each element of c is summed
// over blocks of the depth in order, so how c is cut into tiles does not change a bit. Narrow
// elements are widened as they are packed, and sums that do not fit c's type are rounded once.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/gemm_blocks.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/gemm_tiles.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/tile-inl.hpp"

#ifndef SINTER_GEMM_TABLE
#define SINTER_GEMM_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides.
template <class T>
struct GemmTable {
  void (*product)(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, Addend<T> addend);
  void (*wide_product)(Matrix<const T> a, Matrix<const T> b, Matrix<Wide<T>> c,
                       Addend<Wide<T>> addend);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

constexpr int depth_block = 256;
constexpr int panel_vectors = 2;
/// Packed panels of 256 KB together: rows of the other matrix are gathered once for all of them.
constexpr int panels_at_once = 256 * 1024 / depth_block / panel_vectors /
                               int(sizeof(float) * hn::MaxLanes(hn::ScalableTag<float>()));
/// Rows of c in registers beside two vectors of columns and a factor.
constexpr int rows_at_once = HWY_TARGET == HWY_AVX3 ? 12 : HWY_TARGET == HWY_SCALAR ? 2 : 6;

template <class T>
constexpr int panel_columns = panel_vectors * int(hn::MaxLanes(hn::ScalableTag<T>()));

/// Copies columns [column, column + panel) of op(b), rows [row, row + depth), zeros beyond the end.
template <class T>
void pack_panel(const Matrix<const T>& b, int row, int depth, int column, int columns,
                Wide<T>* to) {
  const hn::ScalableTag<Wide<T>> d;
  const int lanes = int(hn::Lanes(d));
  constexpr int panel = panel_columns<Wide<T>>;
  if (columns < panel) std::fill_n(to, depth * panel, Wide<T>(0));
  if (b.transposed) {
    transpose(b.data + column * b.stride + row, b.stride, columns, depth, Wide<T>(1), to, panel);
    return;
  }
  for (int p = 0; p < depth; ++p) {
    const T* from = b.data + (row + p) * b.stride + column;
    if (columns < panel) {
      std::copy_n(from, columns, to + p * panel);
    } else {
      for (int i = 0; i < panel; i += lanes) store(load(d, from + i), d, to + p * panel + i);
    }
  }
}

/// `Rows` rows of a, widened, so that each is read in order.
template <int Rows, class T>
HWY_INLINE Strided<Wide<T>> gather(Strided<T> a, int depth, Wide<T>* to) {
  if (a.row == 1) {
    for (int p = 0; p < depth; ++p) {
      const T* from = a.data + p * a.step;
      if constexpr (is_narrow<T>) {
        // A row is no whole number of vectors, so they are widened four at a time.
        const hn::CappedTag<Wide<T>, 4> few;
        const int lanes = int(hn::Lanes(few));
        int i = 0;
        for (; i + lanes <= Rows; i += lanes) store(load(few, from + i), few, to + p * Rows + i);
        for (; i < Rows; ++i) to[p * Rows + i] = from[i];
      } else {
        std::memcpy(to + p * Rows, from, Rows * sizeof(T));  // inlined, which no loop is
      }
    }
    return {to, 1, Rows};
  }
  for (int i = 0; i < Rows; ++i) put_all(a.data + i * a.row, to + i * depth_block, depth, false);
  return {to, depth_block, 1};
}

/// One row: c = sums + addend, rounded to the type of c.
template <class C>
HWY_INLINE void put_row(const Wide<C>* sums, const C* addend, C* c, int columns) {
  for_each<C>(columns, [=](auto d, std::int64_t i) HWY_ATTR {
    const auto sum = load(d, sums + i);
    store(addend ? hn::Add(load(d, addend + i), sum) : sum, d, c + i);
  });
}

/// `Rows` rows of c, one packed panel wide: c = ab + addend. Only `columns` columns exist.
template <int Rows, class T, class C>
HWY_INLINE void tile(Strided<T> a, const T* panel, int depth, C* c, std::int64_t c_row, int columns,
                     Addend<C> addend) {
  const hn::ScalableTag<T> d;
  constexpr int width = panel_columns<T>;
  if constexpr (std::is_same_v<T, C>)
    if (columns == width) {
      if (addend) {
        multiply_rows<Into::add, Rows, panel_vectors>(d, a, panel, width, depth, c, c_row,
                                                      addend.data, addend.stride);
      } else {
        multiply_rows<Into::assign, Rows, panel_vectors>(d, a, panel, width, depth, c, c_row);
      }
      return;
    }
  HWY_ALIGN T sums[Rows * width];
  multiply_rows<Into::assign, Rows, panel_vectors>(d, a, panel, width, depth, sums, width);
  for (int i = 0; i < Rows; ++i) put_row(sums + i * width, addend.at(i, 0), c + i * c_row, columns);
}

/// `Rows` rows of c across several packed panels.
template <int Rows, class T, class C, class W = Wide<T>>
HWY_NOINLINE void across(Strided<T> a, const W* panels, int depth, C* c, std::int64_t c_row,
                         int columns, Addend<C> addend) {
  constexpr int width = panel_columns<W>;
  // Rows may be far apart, at addresses that fight for the same part of the cache.
  HWY_ALIGN W rows[Rows * depth_block];
  Strided<W> wide;
  if constexpr (!is_narrow<T>) wide = a;
  if (columns > width || is_narrow<T>) wide = gather<Rows>(a, depth, rows);
  for (int j = 0; j < columns; j += width)
    tile<Rows>(wide, panels + std::int64_t(j / width) * depth_block * width, depth, c + j, c_row,
               std::min(width, columns - j), addend.from(0, j));
}

/// What blocked_product() asks for.
template <class T>
struct Tiles {
  using Sum = Wide<T>;
  using Packed = Sum;
  static constexpr int depth_block = HWY_NAMESPACE::depth_block;
  static constexpr int width = panel_columns<Sum>, group = panels_at_once * width;
  static constexpr int group_packed = depth_block * group;
  static constexpr int max_rows = 20 * rows_at_once;

  static void pack(const Matrix<const T>& b, int row, int depth, int column, int columns,
                   Packed* panels) {
    for (int i = 0; i < columns; i += width)
      pack_panel(b, row, depth, column + i, std::min(width, columns - i), panels + i * depth_block);
  }
  static void put(const Sum* sums, const T* addend, T* to, int n) { put_row(sums, addend, to, n); }
  template <class C>
  static void rows(const Matrix<const T>& m, int row, int column, const Packed* panels, int depth,
                   C* c, std::int64_t c_row, int rows, int columns, Addend<C> addend) {
    const Strided<T> all{m.data, m.transposed ? 1 : m.stride, m.transposed ? m.stride : 1};
    const Strided<T> a = all.from(row, column);
    int i = 0;
    for (; i + rows_at_once <= rows; i += rows_at_once)
      across<rows_at_once>(a.from(i, 0), panels, depth, c + i * c_row, c_row, columns,
                           addend.from(i, 0));
    for (; i + 4 <= rows; i += 4)
      across<4>(a.from(i, 0), panels, depth, c + i * c_row, c_row, columns, addend.from(i, 0));
    for (; i < rows; ++i)
      across<1>(a.from(i, 0), panels, depth, c + i * c_row, c_row, columns, addend.from(i, 0));
  }
};

template <class T, class C>
void product(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend) {
  blocked_product<Tiles<T>>(a, b, c, addend);
}

template <class T>
GemmTable<T> make_table() {
  return {product<T, T>, product<T, Wide<T>>};
}
SINTER_TABLES(GemmTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
SINTER_DISPATCH(GemmTable)
}  // namespace

template <class T, class C>
void gemm_tiles(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend) {
  if constexpr (std::is_same_v<T, C>) {
    table<T>().product(a, b, c, addend);
  } else {
    table<T>().wide_product(a, b, c, addend);
  }
}

#define SINTER_INSTANTIATE(T, C) \
  template void gemm_tiles(Matrix<const T>, Matrix<const T>, Matrix<C>, Addend<C>);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE

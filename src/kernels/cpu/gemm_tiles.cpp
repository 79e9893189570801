// A matrix product of our own, after Goto & van de Geijn (2008): panels of b are packed so that
// they stay in the second-level cache, tiles of c stay in registers. Each element of c is summed
// over blocks of the depth in order, so how c is cut into tiles does not change a bit.
#include <algorithm>

#include "kernels/cpu/gemm.hpp"
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
  void (*product)(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool add);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

constexpr int depth_block = 256;
constexpr int panels_at_once = 8;
constexpr int panel_vectors = 2;
/// Rows of c in registers beside two vectors of columns and a factor.
constexpr int rows_at_once = HWY_TARGET == HWY_AVX3 ? 12 : HWY_TARGET == HWY_SCALAR ? 2 : 6;

template <class T>
constexpr int panel_columns = panel_vectors * int(hn::MaxLanes(hn::ScalableTag<T>()));

/// Copies columns [column, column + panel) of op(b), rows [row, row + depth), zeros beyond the end.
template <class T>
void pack_panel(const Matrix<const T>& b, int row, int depth, int column, int columns, T* to) {
  const hn::ScalableTag<T> d;
  const int lanes = int(hn::Lanes(d));
  constexpr int panel = panel_columns<T>;
  if (columns < panel) std::fill_n(to, depth * panel, T(0));
  if (b.transposed) {
    transpose(b.data + column * b.stride + row, b.stride, columns, depth, T(1), to, panel);
    return;
  }
  for (int p = 0; p < depth; ++p) {
    const T* from = b.data + (row + p) * b.stride + column;
    if (columns < panel) {
      std::copy_n(from, columns, to + p * panel);
    } else {
      for (int i = 0; i < panel; i += lanes)
        hn::Store(hn::LoadU(d, from + i), d, to + p * panel + i);
    }
  }
}

/// `Rows` rows of c, one packed panel wide: c = ab or c += ab. Only `columns` columns exist.
template <int Rows, class T>
HWY_INLINE void tile(Strided<T> a, const T* panel, int depth, T* c, std::int64_t c_row, int columns,
                     bool add) {
  const hn::ScalableTag<T> d;
  constexpr int width = panel_columns<T>;
  if (columns == width) {
    if (add) {
      multiply_rows<Into::add, Rows, panel_vectors>(d, a, panel, width, depth, c, c_row);
    } else {
      multiply_rows<Into::assign, Rows, panel_vectors>(d, a, panel, width, depth, c, c_row);
    }
    return;
  }
  HWY_ALIGN T sums[Rows * width];
  multiply_rows<Into::assign, Rows, panel_vectors>(d, a, panel, width, depth, sums, width);
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < columns; ++j)
      c[i * c_row + j] = add ? c[i * c_row + j] + sums[i * width + j] : sums[i * width + j];
}

/// `Rows` rows of c across several packed panels.
template <int Rows, class T>
HWY_NOINLINE void across(Strided<T> a, const T* panels, int depth, T* c, std::int64_t c_row,
                         int columns, bool add) {
  constexpr int width = panel_columns<T>;
  // Rows of a transposed matrix are far apart: gathered once for all panels.
  HWY_ALIGN T rows[Rows * depth_block];
  if (a.row == 1 && columns > width) {
    for (int p = 0; p < depth; ++p)
      for (int i = 0; i < Rows; ++i) rows[p * Rows + i] = a.data[p * a.step + i];
    a = {rows, 1, Rows};
  }
  for (int j = 0; j < columns; j += width)
    tile<Rows>(a, panels + std::int64_t(j / width) * depth_block * width, depth, c + j, c_row,
               std::min(width, columns - j), add);
}

template <class T>
void product(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool add) {
  constexpr int width = panel_columns<T>, group = panels_at_once * width;
  HWY_ALIGN T panels[depth_block * group];
  const int depth = a.transposed ? a.rows : a.columns;
  const Strided<T> left{a.data, a.transposed ? 1 : a.stride, a.transposed ? a.stride : 1};
  for (int p = 0; p < depth; p += depth_block) {
    const int n = std::min(depth_block, depth - p);
    const bool adds = add || p > 0;
    for (int j = 0; j < c.columns; j += group) {
      const int columns = std::min(group, c.columns - j);
      for (int i = 0; i < columns; i += width)
        pack_panel(b, p, n, j + i, std::min(width, columns - i), panels + i * depth_block);
      int i = 0;
      for (; i + rows_at_once <= c.rows; i += rows_at_once)
        across<rows_at_once>(left.from(i, p), panels, n, c.data + i * c.stride + j, c.stride,
                             columns, adds);
      for (; i + 4 <= c.rows; i += 4)
        across<4>(left.from(i, p), panels, n, c.data + i * c.stride + j, c.stride, columns, adds);
      for (; i < c.rows; ++i)
        across<1>(left.from(i, p), panels, n, c.data + i * c.stride + j, c.stride, columns, adds);
    }
  }
}

GemmTable<float> table_f32() { return {product<float>}; }
GemmTable<double> table_f64() { return {product<double>}; }

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
SINTER_DISPATCH(GemmTable)
}  // namespace

template <class T>
void gemm_tiles(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, bool add) {
  table<T>().product(a, b, c, add);
}

template void gemm_tiles(Matrix<const float>, Matrix<const float>, Matrix<float>, bool);
template void gemm_tiles(Matrix<const double>, Matrix<const double>, Matrix<double>, bool);

}  // namespace sinter::kernel
#endif  // HWY_ONCE

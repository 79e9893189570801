// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/matmul.hpp"

#include <algorithm>

#include "kernels/cpu/gemm.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

/// Tiles begin at multiples of this: what kernels hold in registers. Thinner tiles would be slower,
/// and rounded differently.
constexpr int step = 16;

/// How c is cut into tiles: `rows` × `columns` of them.
struct Grid {
  int rows = 1, columns = 1;
};

/// The grid of at most `threads` tiles whose tiles read the least.
Grid choose_grid(int threads, int m, int n, int k) {
  int most = int(std::clamp(double(m) * n * k / matmul_grain, 1.0, double(threads)));
  Grid best;
  double least = 0;
  for (int tiles = most; tiles > (least == 0 ? 0 : most / 2); --tiles) {
    for (int rows = 1; rows <= tiles; ++rows) {
      int columns = tiles / rows;
      if (rows * columns != tiles || rows * step > std::max(m, step) ||
          columns * step > std::max(n, step))
        continue;
      double reads = double(m) / rows + double(n) / columns + double(m) * n / tiles / 16;
      if (least == 0 || reads < least) least = reads, best = {rows, columns};
    }
  }
  return best;
}

/// Border number i of `parts` on an axis of n.
int border(int n, int i, int parts) {
  if (i == parts) return n;
  return int((std::int64_t(n) * i / parts + step / 2) / step * step);
}

template <class T>
void clear(Matrix<T> c) {
  for (int r = 0; r < c.rows; ++r) std::fill_n(c.data + r * c.stride, c.columns, T(0));
}

/// True if there is something to add to; c then holds it.
template <class T>
bool put_first(Addend<T> addend, Matrix<T> c) {
  if (addend && addend.data != c.data)
    for (int r = 0; r < c.rows; ++r) std::copy_n(addend.at(r, 0), c.columns, c.data + r * c.stride);
  return bool(addend);
}

template <class T>
Gemm choose_gemm() {
  if (std::is_same_v<T, Float16>) return Gemm::tiles;
  if (std::is_same_v<T, BFloat16>) {
    if (has_amx()) return Gemm::amx;
    return has_pairs() ? Gemm::pairs : Gemm::tiles;
  }
#if defined(__x86_64__)
  const bool tiles =
      !__builtin_cpu_is("intel") && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (!tiles && has_vendor()) return Gemm::vendor;
#endif
  return Gemm::tiles;
}

}  // namespace

template <class T>
Gemm preferred_gemm(MatmulInputs inputs) {
  if (std::is_same_v<T, float> && inputs == MatmulInputs::rounded) {
    const Gemm narrow = preferred_gemm<BFloat16>();
    if (narrow != Gemm::tiles) return narrow;
  }
  if (!std::is_same_v<T, Float16>)
    if (const auto forced = is_narrow<T> ? forced_gemm.narrow : forced_gemm.whole) return *forced;
  static const Gemm gemm = choose_gemm<T>();  // virtual machines take long to answer cpuid
  return gemm;
}

template <class T, class C>
void matmul_by(Gemm gemm, Stream& stream, Matrix<const T> a, Matrix<const T> b, Matrix<C> c,
               Addend<C> addend) {
  const int m = c.rows, n = c.columns, k = a.transposed ? a.rows : a.columns;
  if (m <= 0 || n <= 0) return;
  if (k <= 0) return stream.parallel(1, [&](int) { put_first(addend, c) ? void() : clear(c); });
  const Grid grid = choose_grid(stream.threads(), m, n, k);
  stream.parallel(grid.rows * grid.columns, [&](int tile) {
    const int i = tile / grid.columns, j = tile % grid.columns;
    const int top = border(m, i, grid.rows), bottom = border(m, i + 1, grid.rows);
    const int left = border(n, j, grid.columns), right = border(n, j + 1, grid.columns);
    if (top == bottom || left == right) return;
    const auto rows = rows_of(a, top, bottom), columns = columns_of(b, left, right);
    const auto result = columns_of(rows_of(c, top, bottom), left, right);
    const auto added = addend.from(top, left);
    if constexpr (!is_narrow<T>) {
      if (gemm == Gemm::vendor)
        return gemm_vendor<T>(rows, columns, result, put_first(added, result));
      if (gemm == Gemm::tiles && m < min_rows) return gemm_few<T>(rows, columns, result, added);
    } else if (gemm == Gemm::few && m < min_rows) {
      return gemm_few_narrow<T, C>(rows, columns, result, added);
    }
    if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, float>) {
      if (gemm == Gemm::amx) return gemm_amx<T, C>(rows, columns, result, added);
      if (gemm == Gemm::pairs) return gemm_pairs<T, C>(rows, columns, result, added);
    }
    gemm_tiles<T, C>(rows, columns, result, added);
  });
}

template <class T, class C>
void matmul_into(Stream& stream, Matrix<const T> a, Matrix<const T> b, Matrix<C> c,
                 Addend<C> addend) {
  const MatmulInputs inputs = stream.matmul_inputs();
  const bool few = is_narrow<T> && inputs == MatmulInputs::in_place && c.rows < min_rows;
  matmul_by<T, C>(few ? Gemm::few : preferred_gemm<T>(inputs), stream, a, b, c, addend);
}

#define SINTER_INSTANTIATE(T, C)                                                                  \
  template void matmul_by(Gemm, Stream&, Matrix<const T>, Matrix<const T>, Matrix<C>, Addend<C>); \
  template void matmul_into(Stream&, Matrix<const T>, Matrix<const T>, Matrix<C>, Addend<C>);
SINTER_EACH_GRADIENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE
#define SINTER_INSTANTIATE(T) template Gemm preferred_gemm<T>(MatmulInputs);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel

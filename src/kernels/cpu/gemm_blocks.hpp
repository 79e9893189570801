// SPDX-License-Identifier: Apache-2.0
// The loops around packed panels (Goto & van de Geijn 2008), for the products that are ours.
#pragma once
#include <algorithm>
#include <type_traits>

#include "kernels/cpu/gemm.hpp"

namespace sinter::kernel {

/// Sums that lie in c between blocks of the depth.
/// requires  c holds them without rounding, or there is one block
template <class Parts, class T, class C>
void sum_in_place(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend) {
  alignas(64) typename Parts::Packed packed[Parts::group_packed];
  const int depth = a.transposed ? a.rows : a.columns;
  for (int p = 0; p < depth; p += Parts::depth_block) {
    const int n = std::min(Parts::depth_block, depth - p);
    if (p > 0) addend = {c.data, c.stride};
    for (int j = 0; j < c.columns; j += Parts::group) {
      const int columns = std::min(Parts::group, c.columns - j);
      Parts::pack(b, p, n, j, columns, packed);
      Parts::rows(a, 0, p, packed, n, c.data + j, c.stride, c.rows, columns, addend.from(0, j));
    }
  }
}

/// Sums that lie beside a c whose type is narrower, and are rounded when they are whole.
template <class Parts, class T, class C>
void sum_beside(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend) {
  using Sums = Addend<typename Parts::Sum>;
  constexpr int group = Parts::group;
  alignas(64) typename Parts::Packed packed[Parts::group_packed];
  alignas(64) typename Parts::Sum sums[Parts::max_rows * group];
  const int depth = a.transposed ? a.rows : a.columns;
  for (int j = 0; j < c.columns; j += group) {
    const int columns = std::min(group, c.columns - j);
    for (int i = 0; i < c.rows; i += Parts::max_rows) {
      const int rows = std::min(Parts::max_rows, c.rows - i);
      for (int p = 0; p < depth; p += Parts::depth_block) {
        const int n = std::min(Parts::depth_block, depth - p);
        Parts::pack(b, p, n, j, columns, packed);
        Parts::rows(a, i, p, packed, n, sums, group, rows, columns,
                    p > 0 ? Sums{sums, group} : Sums{});
      }
      for (int r = 0; r < rows; ++r)
        Parts::put(sums + r * group, addend.at(i + r, j), c.data + (i + r) * c.stride + j, columns);
    }
  }
}

/// c = op(a) op(b) + addend by one thread. Each element is summed over blocks of the depth in
/// order, so that how c is cut into tiles does not change a bit. Parts has:
///   Sum, Packed   the types of sums and of packed elements
///   depth_block   the depth of a block
///   group         how many columns of b are packed together
///   group_packed  room for them, in elements
///   max_rows     how many rows of sums may lie beside c
///   pack(b, row, depth, column, columns, packed)
///   rows(a, row, column, packed, depth, c, distance of rows, rows, columns, addend), where c and
///                 the addend are sums, or elements to which sums are rounded
///   put(sums, row of the addend or nullptr, row of c, columns)
template <class Parts, class T, class C>
void blocked_product(Matrix<const T> a, Matrix<const T> b, Matrix<C> c, Addend<C> addend) {
  const int depth = a.transposed ? a.rows : a.columns;
  if constexpr (!std::is_same_v<C, typename Parts::Sum>)
    if (depth > Parts::depth_block) return sum_beside<Parts>(a, b, c, addend);
  sum_in_place<Parts>(a, b, c, addend);
}

}  // namespace sinter::kernel

// SPDX-License-Identifier: Apache-2.0
// The loops of gemm_amx() and of attention by AMX, over a unit of eight tiles of 16 rows of 64
// bytes, four of which hold 32 × 32 sums. Panels of b are packed in pairs of rows, and stay in the
// second-level cache (Goto & van de Geijn 2008). The unit is Amx in amx-inl.hpp; a test brings one
// of plain C++.
#pragma once
#include <algorithm>
#include <type_traits>

#include "kernels/cpu/gemm.hpp"

namespace sinter::kernel {

/// c = op(a) op(b) + addend by one thread. Each element is summed over parts of the depth in order,
/// so that how c is cut into tiles does not change a bit. A tile of a has 16 rows of 32 numbers; one
/// of b has 16 pairs of rows: row i holds those of rows 2 i and 2 i + 1 of b, 16 columns. Unit has
///   Tiles                                  gives the calling thread tiles while it lives
///   pack_rows(from, stride, rows, depth, to)     the two tiles of 32 rows of a, which lie in order
///   pack_columns(from, stride, rows, depth, to)  the same where columns of a lie in order
///   pack_pair(from, stride, columns, depth, to)  two rows of b, 32 columns, in two tiles
///   pack_panel(from, stride, columns, depth, to) two tiles of b whose columns lie in order
///   zero_sums(), load_sums<rows, columns>(from, stride), store_sums<rows, columns>(to, stride)
///                                          the 2 × 2 tiles of sums, or half or a quarter of them
///   load_left<i>(from, bytes), load_right<i>(from)   tile i of a and of b
///   multiply<i, j>()                       adds the product of these to sums (i, j)
///   put(sums, stride, rows, columns, addend, to, stride)   c = sums + addend, at most 32 columns
/// Whatever `rows`, `columns` and `depth` leave out of a tile is packed as zeros.
template <class Unit>
struct AmxProduct {
  template <class T>
  using Operand = Matrix<const T>;

  static constexpr int block = 32;              // rows and columns of sums
  static constexpr int step = 32;               // depth of a tile
  static constexpr int tile_numbers = 16 * 32;  // of bfloat16
  static constexpr int panel_numbers = 256 * 1024;
  /// Depth of a part of the sums. Rows of a transposed a are packed anew for each group of panels:
  /// thinner parts make wider groups.
  static constexpr int depth_block = 1024, depth_block_transposed = 256;
  /// From this depth on, sums of the block before are put while the next ones are multiplied:
  /// 12-18 % faster there, 5-10 % slower below.
  static constexpr int long_depth = 512;
  /// Sums that are kept beside c.
  static constexpr int kept_rows = 512, kept_columns = panel_numbers / depth_block;

  /// Where two tiles of a lie for each step of the depth; distances are in bytes.
  struct Rows {
    const void* data;
    std::int64_t row, second, step;
  };

  /// At most 32 columns of sums that wait to be put into c.
  template <class C>
  struct Waiting {
    const float* sums;
    std::int64_t sums_row;
    int rows, columns;
    Addend<C> addend;
    C* to;
    std::int64_t to_row;

    void put(int most) {
      const int n = std::min(most, rows);
      Unit::put(sums, sums_row, n, columns, addend, to, to_row);
      if (addend) addend.data += n * addend.stride;
      rows -= n, sums += n * sums_row, to += n * to_row;
    }
  };

  static constexpr int round_up(int n) { return (n + 31) / 32 * 32; }

  /// The least number of equal parts of n, of at most `most`: the size of one.
  static constexpr int part_of(int n, int most) {
    const int parts = (n + most - 1) / most;
    return round_up((n + parts - 1) / parts);
  }

  /// Panels of 32 columns of op(b), two tiles for each step of the depth.
  template <class T>
  static void pack(const Operand<T>& b, int row, int depth, int column, int columns,
                   BFloat16* panels) {
    const int whole = round_up(depth);
    if (b.transposed) {
      for (int j = 0; j < columns; j += block)
        for (int p = 0; p < depth; p += step)
          Unit::pack_panel(element_of(b, row + p, column + j), b.stride, columns - j, depth - p,
                           panels + std::int64_t(j) * whole + p * block);
      return;
    }
    for (int p = 0; p < whole; p += 2) {  // in the order of memory, which may be distant
      const T* from = element_of(b, row + p, column);
      BFloat16* to = panels + p / step * step * block + p % step / 2 * 32;
      for (int j = 0; j < columns; j += block)
        Unit::pack_pair(from + j, b.stride, columns - j, depth - p, to + std::int64_t(j) * whole);
    }
  }

  /// At most 32 rows of op(a) from (row, column) on: where they lie, or packed.
  template <class T>
  static Rows take_rows(const Operand<T>& a, int row, int rows, int column, int depth,
                        BFloat16* to) {
    if (std::is_same_v<T, BFloat16> && !a.transposed && rows == block && depth % step == 0)
      return {element_of(a, row, column), 2 * a.stride, 16 * 2 * a.stride, 64};
    const Rows packed{to, 64, 1024, 2048};
    for (int p = 0; p < depth; p += step, to += 2 * tile_numbers) {
      const T* from = element_of(a, row, column + p);
      a.transposed ? Unit::pack_columns(from, a.stride, rows, depth - p, to)
                   : Unit::pack_rows(from, a.stride, rows, depth - p, to);
    }
    return packed;
  }

  /// 32 × 32 sums over `steps`, from zeros or with go_on from what is there; half of them where
  /// there are not more than 16 rows or columns. What waits is put meanwhile. Loads are issued
  /// before the product that does not need them.
  template <bool TwoRows, bool TwoColumns, class C>
  static void multiply(Rows a, const BFloat16* panel, int steps, float* to, std::int64_t row,
                       bool go_on, Waiting<C>& waiting) {
    const auto* left = static_cast<const char*>(a.data);
    const int at_once = (waiting.rows + steps - 1) / steps;
    if (std::is_same_v<C, float> && go_on)
      Unit::template load_sums<TwoRows, TwoColumns>(to, row);
    else
      Unit::zero_sums();
    Unit::template load_left<0>(left, a.row);
    Unit::template load_right<0>(panel);
    for (int s = 1; s <= steps; ++s) {
      if (TwoColumns) Unit::template load_right<1>(panel + tile_numbers);
      Unit::template multiply<0, 0>();
      if (TwoRows) Unit::template load_left<1>(left + a.second, a.row);
      if (TwoColumns) Unit::template multiply<0, 1>();
      left += a.step, panel += 2 * tile_numbers;
      if (s < steps) Unit::template load_left<0>(left, a.row);
      if (TwoRows) Unit::template multiply<1, 0>();
      if (s < steps) Unit::template load_right<0>(panel);
      if (TwoRows && TwoColumns) Unit::template multiply<1, 1>();
      if (waiting.rows) waiting.put(at_once);
    }
    Unit::template store_sums<TwoRows, TwoColumns>(to, row);
  }

  template <class C>
  static constexpr auto multiply_for(int rows, int columns) {
    if (rows > 16) return columns > 16 ? multiply<true, true, C> : multiply<true, false, C>;
    return columns > 16 ? multiply<false, true, C> : multiply<false, false, C>;
  }

  /// c = a panels + addend, of rows of op(a) from (row, column) on. go_on: the sums go on from c.
  template <class T, class C>
  static void rows_by_panels(const Operand<T>& a, int row, int column, const BFloat16* panels,
                             int depth, Matrix<C> c, Addend<C> addend, bool go_on = false) {
    alignas(64) BFloat16 packed[block * depth_block];
    alignas(64) float sums[2][block * block];
    const int steps = round_up(depth) / step;
    Waiting<C> waiting{};
    for (int i = 0, turn = 0; i < c.rows; i += block) {
      const int rows = std::min(block, c.rows - i);
      const Rows left = take_rows(a, row + i, rows, column, depth, packed);
      for (int j = 0; j < c.columns; j += block, turn = !turn) {
        const int columns = std::min(block, c.columns - j);
        const BFloat16* panel = panels + std::int64_t(j) * round_up(depth);
        C* to = c.data + i * c.stride + j;
        if constexpr (std::is_same_v<C, float>) {
          if (!addend && rows == block && columns == block) {
            multiply<true, true, C>(left, panel, steps, to, c.stride, go_on, waiting);
            continue;
          }
          for (int r = 0; go_on && r < rows; ++r)
            std::copy_n(to + r * c.stride, columns, sums[turn] + r * block);
        }
        multiply_for<C>(rows, columns)(left, panel, steps, sums[turn], block, go_on, waiting);
        waiting = {sums[turn], block, rows, columns, addend.from(i, j), to, c.stride};
        if (depth < long_depth) waiting.put(block);
      }
    }
    waiting.put(block);
  }

  /// Each part of the depth is added to c.
  template <class T, class C>
  static void in_place(const Operand<T>& a, const Operand<T>& b, const Matrix<C>& c,
                       Addend<C> addend, int depth, int part) {
    alignas(64) BFloat16 panels[panel_numbers];
    const int group = part_of(c.columns, panel_numbers / part / block * block);
    const bool plain = std::is_same_v<C, float> && !addend;
    for (int p = 0; p < depth; p += part) {
      const int n = std::min(part, depth - p);
      if (p > 0 && !plain) addend = {c.data, c.stride};
      for (int j = 0; j < c.columns; j += group) {
        const int columns = std::min(group, c.columns - j);
        pack(b, p, n, j, columns, panels);
        rows_by_panels(a, 0, p, panels, n, columns_of(c, j, j + columns), addend.from(0, j),
                       p > 0 && plain);
      }
    }
  }

  /// The same where c cannot hold sums of parts: they are kept beside it, and rounded when they are
  /// whole.
  template <class T>
  static void kept(const Operand<T>& a, const Operand<T>& b, const Matrix<BFloat16>& c,
                   Addend<BFloat16> addend, int depth, int part) {
    alignas(64) BFloat16 panels[panel_numbers];
    alignas(64) float sums[kept_rows * kept_columns];
    const int group = part_of(c.columns, kept_columns);
    for (int j = 0; j < c.columns; j += group)
      for (int i = 0; i < c.rows; i += kept_rows) {
        const int columns = std::min(group, c.columns - j), rows = std::min(kept_rows, c.rows - i);
        for (int p = 0; p < depth; p += part) {
          const int n = std::min(part, depth - p);
          const Addend<float> before{p > 0 ? sums : nullptr, group};
          pack(b, p, n, j, columns, panels);
          rows_by_panels(a, i, p, panels, n, {sums, rows, columns, group}, before);
        }
        for (int k = 0; k < columns; k += block)
          Unit::put(sums + k, group, rows, columns - k, addend.from(i, j + k),
                    c.data + ((i * c.stride) + j + k), c.stride);
      }
  }

  template <class T, class C>
  static void product(const Operand<T>& a, const Operand<T>& b, const Matrix<C>& c,
                      Addend<C> addend) {
    const typename Unit::Tiles tiles;
    const int depth = a.transposed ? a.rows : a.columns;
    constexpr bool whole = std::is_same_v<C, float>;
    const int part = part_of(depth, a.transposed && whole ? depth_block_transposed : depth_block);
    if constexpr (!whole)
      if (depth > depth_block) return kept(a, b, c, addend, depth, part);
    in_place(a, b, c, addend, depth, part);
  }
};

}  // namespace sinter::kernel

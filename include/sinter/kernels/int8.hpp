// SPDX-License-Identifier: Apache-2.0
// Matrices in blocks of int8, for models that are not trained. As llama.cpp's q8_0, each row of a
// matrix is cut into groups of numbers along the depth of products, which share a scale.
#pragma once
#include <cstddef>
#include <cstdint>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// Rows of an Int8Matrix that lie together, so that one vector holds a number of each of them.
inline constexpr int int8_tile = 16;

/// A view of a matrix W: rows × columns numbers q × scale, where q is in [-127, 127], and `group`
/// numbers of a row have one scale, which is a Float16. Byte: std::byte, or const std::byte.
///
/// A tile of int8_tile rows is stored group after group: the scales of the group in its rows, then
/// four numbers of each row, the next four of each, and so on, as q + 128. Rows that the last tile
/// lacks are zeros.
template <class Byte>
struct Int8Matrix {
  Byte* data = nullptr;       ///< int8_bytes(rows, columns, group) bytes
  int rows = 0, columns = 0;  ///< columns is a multiple of group
  int group = 32;             ///< a multiple of 4, at most 128

  /// Groups of a row.
  constexpr int groups() const { return columns / group; }
  /// Bytes of a group of a tile.
  constexpr std::int64_t group_bytes() const { return std::int64_t(int8_tile) * (group + 2); }
  /// Group g of the tile that row r is in.
  constexpr Byte* at(int r, int g) const {
    return data + (std::int64_t(r / int8_tile) * groups() + g) * group_bytes();
  }
  /// Views the same numbers for reading.
  constexpr operator Int8Matrix<const std::byte>() const { return {data, rows, columns, group}; }
};

/// Bytes of an Int8Matrix, a multiple of 16.
constexpr std::int64_t int8_bytes(int rows, int columns, int group) {
  const Int8Matrix<std::byte> matrix{nullptr, rows, columns, group};
  return (rows + int8_tile - 1) / int8_tile * std::int64_t(matrix.groups()) * matrix.group_bytes();
}

/// Stores rows [first, first + count) of W, given one behind the other. A scale is the largest
/// magnitude of its group / 127, rounded to Float16, and numbers are rounded to the nearest multiple
/// of it, ties away from zero: |W - stored| ≤ scale / 2 + 127 × 2^-25. A group with a number that is
/// not finite, or beyond 127 × 65504, has NaN as its scale.
void pack_int8_rows(const float* values, int first, int count, Int8Matrix<std::byte> to);
/// Stores group g of all rows, likewise. values: group × rows, so W is given as its transpose.
void pack_int8_columns(const float* values, int g, Int8Matrix<std::byte> to);
/// Writes rows [first, first + count) of W to `values`.
void unpack_int8_rows(Int8Matrix<const std::byte> from, int first, int count, float* values);

/// The scale of group g of row r of W.
inline Float16 int8_scale(const Int8Matrix<const std::byte>& from, int r, int g) {
  return reinterpret_cast<const Float16*>(from.at(r, g))[r % int8_tile];
}
/// Number (r, c) of W, in steps of its scale.
inline std::int8_t int8_number(const Int8Matrix<const std::byte>& from, int r, int c) {
  const int k = c % from.group;
  const std::byte* const numbers = from.at(r, c / from.group) + 2 * int8_tile;
  return std::int8_t(int(numbers[(k / 4 * int8_tile + r % int8_tile) * 4 + k % 4]) - 128);
}
/// Number (r, c) of W.
inline float int8_value(const Int8Matrix<const std::byte>& from, int r, int c) {
  return float(int8_scale(from, r, c / from.group)) * float(int8_number(from, r, c));
}

/// Bytes of scratch for a product with `rows` rows of `columns` numbers, a multiple of 8.
constexpr std::int64_t int8_scratch_bytes(std::int64_t rows, int columns, int group) {
  return (rows * (columns + 8 * std::int64_t(columns / group)) + 7) / 8 * 8;
}

/// y = x' Wᵀ + bias in each row, where x' is x with each `group` numbers rounded to multiples of
/// their largest magnitude / 127, ties away from zero: |x - x'| ≤ 1/254 of that magnitude. A group
/// without a number of 127 × 2^-126 or more becomes zeros. x: rows × W.columns, y: rows × W.rows,
/// bias: 1 × W.rows or empty. T: float, double, BFloat16 or Float16. Y: T, or a type of sums for it.
///
/// Products of a group are summed exactly, and groups in fp32, whose epsilon is ε. The error is at most
/// (2 + groups) ε Σ|x' W|, one ε of the sum more with a bias, and one rounding to Y. A row of x
/// with a number that is not finite gives NaN. The bits are the same for every number of threads, for
/// any other rows beside, and on all processors that multiply and add in one instruction.
///   scratch   int8_scratch_bytes(x.rows, x.columns, W.group) bytes, aligned to 8
template <class T, class Y>
void int8_matmul(Stream& stream, Input<T> x, Int8Matrix<const std::byte> w, Input<T> bias,
                 Tensor<Y> y, std::byte* scratch);

/// y = W, each number rounded once to T. y: W.rows × W.columns.
template <class T>
void int8_values(Stream& stream, Int8Matrix<const std::byte> w, Tensor<T> y);

/// y[r] = row ids[r] of W. ids: one for each row of y.
template <class T>
void int8_embedding(Stream& stream, Input<std::int32_t> ids, Int8Matrix<const std::byte> w,
                    Tensor<T> y);

}  // namespace sinter::kernel

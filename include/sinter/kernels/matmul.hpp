// SPDX-License-Identifier: Apache-2.0
// Matrix products.
#pragma once
#include <cstdint>
#include <type_traits>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// A tensor, or a part of one, as an operand of a matrix product.
template <class T>
struct Matrix {
  T* data = nullptr;          ///< the first element
  int rows = 0, columns = 0;  ///< as stored
  std::int64_t stride = 0;    ///< elements from one row to the next
  bool transposed = false;    ///< true if the product uses its transpose

  constexpr Matrix() = default;
  /// A part of a tensor, whose rows are row_stride elements apart.
  constexpr Matrix(T* at, int r, int c, std::int64_t row_stride, bool turned = false)
      : data(at), rows(r), columns(c), stride(row_stride), transposed(turned) {}
  /// A whole tensor.
  constexpr Matrix(Tensor<T> t) : Matrix(t.data, t.rows, t.columns, t.columns) {}
  /// Views a whole tensor.
  constexpr Matrix(Tensor<std::remove_const_t<T>> t)
    requires std::is_const_v<T>
      : Matrix(t.data, t.rows, t.columns, t.columns) {}

  /// Views the same elements for reading.
  constexpr operator Matrix<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {data, rows, columns, stride, transposed};
  }
};

/// The transpose of a tensor, as an operand of a matrix product.
template <class T>
constexpr Matrix<T> transposed(Tensor<T> tensor) {
  return {tensor.data, tensor.rows, tensor.columns, tensor.columns, true};
}

/// Number of multiplications below which waking another thread costs more than it saves.
inline constexpr double matmul_grain = 256 * 1024;

/// What is added to a matrix product: a matrix, or one row for all of its rows, such as a bias.
template <class T>
struct Addend {
  const T* data = nullptr;  ///< null if there is nothing to add
  std::int64_t stride = 0;  ///< elements from one row to the next; 0: one row is added to all

  /// True if there is something to add.
  explicit operator bool() const { return data; }
  /// Address of what is added to the product's element (row, column); null if nothing is added.
  const T* at(std::int64_t row, std::int64_t column) const {
    return data ? data + row * stride + column : nullptr;
  }
  /// The addend of the part of the product that begins at (row, column).
  Addend from(std::int64_t row, std::int64_t column) const { return {at(row, column), stride}; }
};

/// c = op(a) op(b) + addend. T, of a and b: float, double, BFloat16 or Float16; C, of c: T or
/// Wide<T>. Sums are taken in Wide<T>, whose epsilon is ε. Error ≤ (1 + √depth) ε Σ|a b|, and one ε
/// of the sum more with an addend. (√ assumes random roundings, Higham & Mary 2019.)
///
/// Every call with the same shapes and number of threads gives the same bits on one kind of
/// processor. Sinter's own tiles, used wherever they are faster than the vendor's library, give the
/// same bits for every number of threads; the library does not promise that.
///
/// Float16 is widened and multiplied in fp32: at the rate of fp32 at best, even where the processor
/// multiplies fp16. On a stream with MatmulInputs::rounded, inputs of float may be rounded to
/// bfloat16: this adds an error of (2^-7 + 2^-16) Σ|a b|, and subnormal numbers count as zero.
/// requires  c is not marked transposed and does not overlap a or b; the addend is c itself, or
///           does not overlap it
template <class T, class C>
void matmul_into(Stream& stream, Matrix<const T> a, Matrix<const T> b, Matrix<C> c,
                 Addend<C> addend);

/// The type of the elements of a Tensor or Matrix.
template <class Operand>
using ElementOf = std::remove_const_t<std::remove_pointer_t<decltype(Operand::data)>>;

/// c = op(a) op(b), or c += op(a) op(b) with its add flag. A, B: a Tensor or a Matrix.
template <class A, class B, class C>
void matmul(Stream& stream, const A& a, const B& b, Tensor<C> c) {
  matmul_into<ElementOf<A>, C>(stream, a, b, c, c.add ? Addend<C>{c.data, c.columns} : Addend<C>{});
}

/// c = op(a) op(b) + bias in each row. A, B: a Tensor or a Matrix; bias: 1 × columns of c.
template <class A, class B, class C>
void matmul_bias(Stream& stream, const A& a, const B& b, Input<C> bias, Tensor<C> c) {
  matmul_into<ElementOf<A>, C>(stream, a, b, c, Addend<C>{bias.data});
}

}  // namespace sinter::kernel

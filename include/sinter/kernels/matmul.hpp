// Matrix products.
#pragma once
#include <cstdint>
#include <type_traits>

#include "sinter/kernels/bfloat16.hpp"
#include "sinter/kernels/float16.hpp"
#include "sinter/kernels/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// A tensor, or a part of one, as a product takes it. rows and columns are as stored; `stride` is
/// the distance of two rows in elements. With `transposed` it takes part as its transpose.
template <class T>
struct Matrix {
  T* data = nullptr;
  int rows = 0, columns = 0;
  std::int64_t stride = 0;
  bool transposed = false;

  constexpr Matrix() = default;
  constexpr Matrix(T* data, int rows, int columns, std::int64_t stride, bool transposed = false)
      : data(data), rows(rows), columns(columns), stride(stride), transposed(transposed) {}
  constexpr Matrix(Tensor<T> t) : Matrix(t.data, t.rows, t.columns, t.columns) {}
  constexpr Matrix(Tensor<std::remove_const_t<T>> t)
    requires std::is_const_v<T>
      : Matrix(t.data, t.rows, t.columns, t.columns) {}

  constexpr operator Matrix<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {data, rows, columns, stride, transposed};
  }
};

/// A tensor that takes part as its transpose.
template <class T>
constexpr Matrix<T> transposed(Tensor<T> tensor) {
  return {tensor.data, tensor.rows, tensor.columns, tensor.columns, true};
}

/// Multiplications below which waking another thread costs more than it saves.
inline constexpr double matmul_grain = 256 * 1024;

/// What a product is added to: nothing, or rows `stride` apart, of which 0 is one row for all.
template <class T>
struct Addend {
  const T* data = nullptr;
  std::int64_t stride = 0;

  explicit operator bool() const { return data; }
  const T* at(std::int64_t row, std::int64_t column) const {
    return data ? data + row * stride + column : nullptr;
  }
  Addend from(std::int64_t row, std::int64_t column) const { return {at(row, column), stride}; }
};

/// c = op(a) op(b) + addend. c must not be marked transposed, nor overlap a or b; the addend is c
/// itself, or elsewhere. T, of a and b: float, double, BFloat16 or Float16; C, of c: T or Wide<T>.
/// Sums are taken in Wide<T>; error ≤ (1 + √depth) ε Σ|a b|, ε its epsilon (roundings as good as
/// random, Higham & Mary 2019), and with an addend one ε of the sum more. The same bits at every
/// call with the same shapes and number of threads on one kind of processor. (With other numbers of
/// threads too where our own tiles run, which is wherever they are faster than the vendor's
/// library; that one promises nothing of the sort.) Float16 is widened and multiplied in fp32: at
/// the rate of fp32 at best, also where the processor multiplies fp16. On a stream with
/// MatmulInputs::rounded inputs of float may be rounded to bfloat16: error (2^-7 + 2^-16) Σ|a b|
/// more, and subnormal numbers count as zero.
template <class T, class C>
void matmul_into(Stream& stream, Matrix<const T> a, Matrix<const T> b, Matrix<C> c,
                 Addend<C> addend);

/// The type of the elements of a Tensor or Matrix.
template <class Operand>
using ElementOf = std::remove_const_t<std::remove_pointer_t<decltype(Operand::data)>>;

/// c = op(a) op(b), or c += op(a) op(b) with its add flag.   a, b: Tensor or Matrix.
template <class A, class B, class C>
void matmul(Stream& stream, const A& a, const B& b, Tensor<C> c) {
  matmul_into<ElementOf<A>, C>(stream, a, b, c, c.add ? Addend<C>{c.data, c.columns} : Addend<C>{});
}

/// c = op(a) op(b) + bias in each row.   a, b: Tensor or Matrix; bias: 1 × columns of c.
template <class A, class B, class C>
void matmul_bias(Stream& stream, const A& a, const B& b, Input<C> bias, Tensor<C> c) {
  matmul_into<ElementOf<A>, C>(stream, a, b, c, Addend<C>{bias.data});
}

}  // namespace sinter::kernel

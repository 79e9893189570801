// Matrix products.
#pragma once
#include <cstdint>
#include <type_traits>

#include "sinter/kernels/bfloat16.hpp"
#include "sinter/kernels/float16.hpp"
#include "sinter/kernels/stream.hpp"

namespace sinter::kernel {

/// A row-major matrix somewhere in memory. rows and columns are as stored; `stride` is the distance
/// of two rows in elements. With `transposed` it takes part as its transpose.
template <class T>
struct Matrix {
  T* data;
  int rows, columns;
  std::int64_t stride;
  bool transposed = false;

  operator Matrix<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {data, rows, columns, stride, transposed};
  }
};

/// A dense matrix: the stride is the number of columns.
template <class T>
constexpr Matrix<T> dense(T* data, int rows, int columns) {
  return {data, rows, columns, columns};
}

/// A dense matrix, used as its transpose.
template <class T>
constexpr Matrix<T> transposed(T* data, int rows, int columns) {
  return {data, rows, columns, columns, true};
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

/// c = op(a) op(b), or c += op(a) op(b) with `add`.
template <class A, class B, class C>
void matmul(Stream& stream, Matrix<A> a, Matrix<B> b, Matrix<C> c, bool add) {
  matmul_into<std::remove_const_t<A>, C>(stream, a, b, c,
                                         add ? Addend<C>{c.data, c.stride} : Addend<C>{});
}

/// c = op(a) op(b) + bias in each row.
template <class A, class B, class C>
void matmul_bias(Stream& stream, Matrix<A> a, Matrix<B> b, const C* bias, Matrix<C> c) {
  matmul_into<std::remove_const_t<A>, C>(stream, a, b, c, Addend<C>{bias});
}

}  // namespace sinter::kernel

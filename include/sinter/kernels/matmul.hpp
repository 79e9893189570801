// Matrix products.
#pragma once
#include <cstdint>
#include <type_traits>

#include "bfloat16.hpp"
#include "float16.hpp"
#include "stream.hpp"

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

/// c = op(a) op(b), or c += op(a) op(b) with `add`. c must not be marked transposed, nor overlap a
/// or b. T, of a and b: float, double, BFloat16 or Float16; C, of c: T or Wide<T>. Sums are taken
/// in Wide<T>; error ≤ (1 + √depth) ε Σ|a b|, ε its epsilon (roundings as good as random, Higham &
/// Mary 2019), and with `add` one ε of the sum more. The same bits at every call with the same
/// shapes and number of threads on one kind of processor. (With other numbers of threads too where
/// our own tiles run, which is wherever they are faster than the vendor's library; that one
/// promises nothing of the sort.) Float16 is widened and multiplied in fp32: at the rate of fp32 at
/// best, also where the processor multiplies fp16.
template <class T, class C>
void matmul_into(Stream& stream, Matrix<const T> a, Matrix<const T> b, Matrix<C> c, bool add);

template <class A, class B, class C>
void matmul(Stream& stream, Matrix<A> a, Matrix<B> b, Matrix<C> c, bool add) {
  matmul_into<std::remove_const_t<A>, C>(stream, a, b, c, add);
}

}  // namespace sinter::kernel

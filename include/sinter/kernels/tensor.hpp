// SPDX-License-Identifier: Apache-2.0
// Operands of kernels.
#pragma once
#include <cassert>
#include <cstdint>
#include <type_traits>

namespace sinter::kernel {

/// The shape of a tensor, and whether kernels add to it: its add flag.
struct Shape {
  std::int32_t rows = 0;          ///< number of rows
  std::int32_t columns : 31 = 0;  ///< elements of a row
  bool add : 1 = false;           ///< true if kernels add to the elements rather than assign
};

/// A view of rows × columns elements in the device's memory, row after row. An empty tensor,
/// without data, stands for an operand that does not exist or a result that is not wanted. A tensor
/// has sixteen bytes, which a call passes in two registers.
template <class T>
struct Tensor : Shape {
  T* data = nullptr;  ///< row-major; null if the tensor is empty

  constexpr Tensor() = default;
  /// Views r × c elements, to which kernels add if `adds`, else assign.
  constexpr Tensor(T* at, int r, int c, bool adds = false) : Shape{r, c, adds}, data(at) {}
  /// Views elements of this shape.
  constexpr Tensor(T* at, Shape shape) : Shape(shape), data(at) {}

  /// A view of the same elements that only reads them.
  constexpr operator Tensor<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {data, static_cast<const Shape&>(*this)};
  }
  /// True unless the tensor is empty.
  constexpr explicit operator bool() const { return data != nullptr; }
  /// rows × columns.
  constexpr std::int64_t size() const { return std::int64_t(rows) * columns; }
  /// requires  the tensor has such an element; asserted, where assertions are on
  T& operator()(int row, int column) const {
    assert(data && row >= 0 && row < rows && column >= 0 && column < columns &&
           "Sinter: a tensor has no such element");
    return data[std::int64_t(row) * columns + column];
  }
  /// Adds to an element if `add`, else assigns to it. Does nothing if the tensor is empty.
  void put(int row, int column, auto value) const {
    if (!data) return;
    T& element = (*this)(row, column);
    element = T(add ? decltype(value)(element) + value : value);
  }
};
static_assert(sizeof(Tensor<float>) == 16 && std::is_trivially_copyable_v<Tensor<float>>);

/// A view of a flat array, such as a policy's state of all parameters. Converts to the pointer that
/// kernels take.
template <class T>
struct Flat {
  T* data = nullptr;      ///< the first element
  std::int64_t size = 0;  ///< number of elements

  constexpr operator T*() const { return data; }  ///< the first element
  /// requires  0 <= k < size; asserted, where assertions are on
  constexpr T& operator[](std::int64_t k) const {
    assert(k >= 0 && k < size && "Sinter: a flat buffer has no such element");
    return data[k];
  }
};

/// A tensor that a kernel reads. T is deduced from another argument, so that a Tensor<T> converts
/// to it, and {} stands for an empty one.
template <class T>
using Input = std::type_identity_t<Tensor<const T>>;
/// A tensor that a kernel writes. T is deduced from another argument, so that {} stands for an
/// empty one.
template <class T>
using Output = std::type_identity_t<Tensor<T>>;

/// Where the sequences on one axis start: sequence s is rows [starts[s], starts[s + 1]).
struct Sequences {
  /// The first row of each sequence and the end of the last: count + 1 numbers in device memory.
  const std::int32_t* starts = nullptr;
  int count = 0;  ///< number of sequences
  int total = 0;  ///< rows of all sequences together: starts[count], but in the host's memory
  /// If not null, each sequence continues a text: the number of rows that come before its first, in
  /// device memory. They count in positions.
  const std::int32_t* before = nullptr;
  /// If not null, only the first rows of each sequence are its own, and padding follows them: how
  /// many are its own, at least 1, in device memory. What mixes the rows of a sequence leaves
  /// padding out, unless each row depends on none behind it.
  const std::int32_t* lengths = nullptr;

  constexpr Sequences() = default;
  /// requires  rows_of_all == at[sequences]
  constexpr Sequences(const std::int32_t* at, int sequences, int rows_of_all)
      : starts(at), count(sequences), total(rows_of_all) {}
  /// Rows of all sequences together.
  constexpr int rows() const { return total; }
  /// These sequences, with padding as rows of their own.
  constexpr Sequences with_padding() const {
    Sequences all = *this;
    all.lengths = nullptr;
    return all;
  }
};

}  // namespace sinter::kernel

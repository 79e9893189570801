// What kernels take.
#pragma once
#include <cstdint>
#include <type_traits>

namespace sinter::kernel {

/// The shape of a tensor, and whether a kernel adds to what the tensor holds rather than assigns.
struct Shape {
  std::int32_t rows = 0;
  std::int32_t columns : 31 = 0;
  bool add : 1 = false;
};

/// rows × columns elements somewhere in the device's memory, the rows one after the other. An empty
/// tensor, without data, stands for one that nobody has or wants. A tensor has sixteen bytes, which
/// a call passes in two registers.
template <class T>
struct Tensor : Shape {
  T* data = nullptr;

  constexpr Tensor() = default;
  constexpr Tensor(T* data, int rows, int columns, bool add = false)
      : Shape{rows, columns, add}, data(data) {}
  constexpr Tensor(T* data, Shape shape) : Shape(shape), data(data) {}

  constexpr operator Tensor<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {data, static_cast<const Shape&>(*this)};
  }
  constexpr explicit operator bool() const { return data != nullptr; }
  constexpr std::int64_t size() const { return std::int64_t(rows) * columns; }
  T& operator()(int row, int column) const { return data[std::int64_t(row) * columns + column]; }
  /// Assigns to an element or adds to it, as `add` says.
  void put(int row, int column, auto value) const {
    T& element = (*this)(row, column);
    element = T(add ? decltype(value)(element) + value : value);
  }
};
static_assert(sizeof(Tensor<float>) == 16 && std::is_trivially_copyable_v<Tensor<float>>);

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
  const std::int32_t* starts = nullptr;
  int count = 0;
  int rows() const { return count ? starts[count] : 0; }
};

}  // namespace sinter::kernel

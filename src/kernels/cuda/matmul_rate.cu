// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/matmul_rate.hpp"

#include <chrono>
#include <vector>

#include "hardware/cuda/launch.hpp"
#include "hardware/cuda/queue.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {

template <class T>
MatmulUnit matmul_unit(MatmulInputs inputs) {
  if constexpr (is_narrow<T>) return MatmulUnit::tensor;
  const bool rounded = std::is_same_v<T, float> && inputs == MatmulInputs::rounded;
  return rounded ? MatmulUnit::tensor : MatmulUnit::own;
}

template <class T>
MatmulLibrary matmul_library(MatmulInputs) {
  return MatmulLibrary::cublas;
}

namespace {

using Clock = std::chrono::steady_clock;

/// Memory of the device, for a while.
class Room {
 public:
  explicit Room(std::size_t bytes) : at(take_memory(bytes)) {
    if (!at) throw std::bad_alloc();
  }
  ~Room() { give_memory(at); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  std::byte* get() const { return at; }

 private:
  std::byte* at;
};

/// A square product of numbers in (-0.5, 0.5): one of zeros would take less power, and so be faster.
template <class T>
class SquareProduct {
 public:
  SquareProduct(Stream& on, int size) : stream(on), n(size), c(bytes()), a(bytes()), b(bytes()) {
    std::vector<T> numbers(std::size_t(n) * std::size_t(n));
    std::uint32_t state = 1;
    for (T& x : numbers) {
      state = state * 1664525u + 1013904223u;
      x = T(float(state >> 8) / float(1 << 24) - 0.5f);
    }
    for (const Room* room : {&a, &b}) copy_in(stream, room->get(), numbers.data(), bytes());
    run(1);
  }

  /// Returns the seconds that `count` products take.
  double run(int count) {
    const auto start = Clock::now();
    for (int k = 0; k < count; ++k)
      matmul(stream, tensor<const T>(a), tensor<const T>(b), tensor<T>(c));
    T one{};
    copy_out(stream, &one, c.get(), sizeof one);
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

 private:
  std::size_t bytes() const { return std::size_t(n) * std::size_t(n) * sizeof(T); }
  template <class E>
  Tensor<E> tensor(const Room& room) const {
    return {reinterpret_cast<E*>(room.get()), n, n};
  }

  Stream& stream;
  int n;
  Room c, a, b;
};

}  // namespace

/// Takes larger products until one takes a millisecond, beside which its launch takes no time. (That
/// an algorithm is searched for first is not measured: a SquareProduct begins with one product.)
template <class T>
double measured_matmul_rate(Stream& stream, double seconds) {
  constexpr int smallest = 256, largest = 8192;
  for (int n = smallest;; n *= 2) {
    SquareProduct<T> product(stream, n);
    const double one = product.run(1);
    if (one < 1e-3 && n < largest) continue;
    const int count = std::max(1, int(seconds / one));
    return 2.0 * n * n * n * count / product.run(count);
  }
}

#define SINTER_INSTANTIATE(T)                             \
  template MatmulUnit matmul_unit<T>(MatmulInputs);       \
  template MatmulLibrary matmul_library<T>(MatmulInputs); \
  template double measured_matmul_rate<T>(Stream&, double);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel

// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/activation.hpp"

#include "kernels/cuda/logistic.hpp"
#include "kernels/cuda/packs.hpp"
#include "kernels/elements.hpp"

namespace sinter::kernel {
namespace {

/// x s(2 u), u = √(2/π) (x + 0.044715 x³), s the logistic function: tanh without cancellation.
struct GeluTanh {
  static constexpr double twice = 2 * 0.79788456080286535588, cube = 0.044715;

  template <class S>
  static __device__ Logistic<S> logistic(S x) {
    return Logistic<S>(x * (S(twice) + S(twice * cube) * x * x));
  }
  template <class S>
  static __device__ S value(S x) {
    return x * logistic(x).value;
  }
  template <class S>
  static __device__ S slope(S x) {
    const Logistic<S> s = logistic(x);
    const S square = x * x, bend = x * (S(twice) + S(3 * twice * cube) * square) * s.slope;
    // Beyond |x| = 100 it is zero, and the product could be infinity times zero.
    return s.value + (square > S(1e4) ? S(0) : bend);
  }
};

/// x Φ(x), Φ the distribution of the standard normal.
struct GeluErf {
  template <class S>
  static __device__ S distribution(S x) {
    return S(0.5) * erfc(x * S(-0.70710678118654752440));
  }
  template <class S>
  static __device__ S value(S x) {
    return x * distribution(x);
  }
  template <class S>
  static __device__ S slope(S x) {
    return distribution(x) + x * exp(S(-0.5) * x * x) * S(0.39894228040143267794);
  }
};

struct Relu {
  template <class S>
  static __device__ S value(S x) {
    return x < 0 ? S(0) : x;
  }
  template <class S>
  static __device__ S slope(S x) {
    return x <= 0 ? S(0) : S(1);
  }
};

struct SiluOf {
  template <class S>
  static __device__ S value(S x) {
    return Silu<S>(x).value;
  }
  template <class S>
  static __device__ S slope(S x) {
    return Silu<S>(x).slope;
  }
};

struct Tanh {
  template <class S>
  static __device__ S value(S x) {
    return tanh(x);
  }
  /// 4 s (1 - s) of 2 x, which is (1 + tanh) (1 - tanh) without cancellation.
  template <class S>
  static __device__ S slope(S x) {
    return S(4) * Logistic<S>(x + x).slope;
  }
};

template <class F, class T>
__global__ void forward_elements(const T* x, T* y, std::int64_t n) {
  map_elements(n, y, [](Wide<T> value) { return F::value(value); }, x);
}

template <class F, class T>
__global__ void backward_elements(const T* x, const T* dy, T* dx, std::int64_t n, bool add) {
  using S = Wide<T>;
  const T* before = dx;
  if (add)
    map_elements(n, dx, [](S x, S dy, S sum) { return sum + F::slope(x) * dy; }, x, dy, before);
  else
    map_elements(n, dx, [](S x, S dy) { return F::slope(x) * dy; }, x, dy);
}

/// The two kernels of a function.
template <class T>
struct Kernels {
  void (*forward)(const T* x, T* y, std::int64_t n);
  void (*backward)(const T* x, const T* dy, T* dx, std::int64_t n, bool add);
};

template <class T>
Kernels<T> kernels_of(Activation f) {
  switch (f) {
    case Activation::gelu_tanh:
      return {forward_elements<GeluTanh, T>, backward_elements<GeluTanh, T>};
    case Activation::gelu_erf:
      return {forward_elements<GeluErf, T>, backward_elements<GeluErf, T>};
    case Activation::relu:
      return {forward_elements<Relu, T>, backward_elements<Relu, T>};
    case Activation::silu:
      return {forward_elements<SiluOf, T>, backward_elements<SiluOf, T>};
    case Activation::tanh:
      break;
  }
  return {forward_elements<Tanh, T>, backward_elements<Tanh, T>};
}

}  // namespace

template <class T>
void activation_forward(Stream& stream, Activation f, Input<T> x, Tensor<T> y) {
  launch(stream, grid_of_elements(x.size()), kernels_of<T>(f).forward, x.data, y.data, x.size());
}

template <class T>
void activation_backward(Stream& stream, Activation f, Input<T> x, Input<T> dy, Tensor<T> dx) {
  launch(stream, grid_of_elements(x.size()), kernels_of<T>(f).backward, x.data, dy.data, dx.data,
         x.size(), bool(dx.add));
}

#define SINTER_INSTANTIATE(T)                                                 \
  template void activation_forward(Stream&, Activation, Input<T>, Tensor<T>); \
  template void activation_backward(Stream&, Activation, Input<T>, Input<T>, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel

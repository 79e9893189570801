// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/activation.hpp"

#include "hardware/cpu/split.hpp"
#include "kernels/cpu/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/activation.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/silu-inl.hpp"
#include "kernels/cpu/simd-inl.hpp"

#ifndef SINTER_ACTIVATION_TABLE
#define SINTER_ACTIVATION_TABLE
namespace sinter::kernel {
namespace {
/// What each instruction set provides, on one range of a flat array.
template <class T>
struct ActivationTable {
  void (*forward)(Activation, const T* x, T* y, std::int64_t n);
  void (*backward)(Activation, const T* x, const T* dy, T* dx, std::int64_t n, bool add);
};
}  // namespace
}  // namespace sinter::kernel
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::kernel {
namespace {
namespace HWY_NAMESPACE {

/// gelu(x) = x s(2u), u = √(2/π) (x + 0.044715 x³), s the logistic function: as tanh has it, with
/// one exponential and no cancellation.
struct GeluTanh {
  template <class D, class V>
  static HWY_INLINE V negative_exponent(D d, V x) {
    using T = Element_of<D>;
    constexpr double c = -2 * 0.79788456080286535588 * 1.44269504088896340736;
    V inner = hn::MulAdd(hn::Mul(x, x), hn::Set(d, T(c * 0.044715)), hn::Set(d, T(c)));
    return hn::Min(hn::Set(d, T(sizeof(T) == 4 ? 120 : 1000)), hn::Mul(x, inner));
  }
  template <class D, class V>
  static HWY_INLINE V value(D d, V x) {
    V e = exp2(d, negative_exponent(d, x));
    return hn::Div(x, hn::Add(e, hn::Set(d, Element_of<D>(1))));
  }
  template <class D, class V>
  static HWY_INLINE V slope(D d, V x) {
    using T = Element_of<D>;
    constexpr double c = 2 * 0.79788456080286535588;
    V e = exp2(d, negative_exponent(d, x));
    V s = hn::Div(hn::Set(d, T(1)), hn::Add(e, hn::Set(d, T(1))));
    const V square = hn::Mul(x, x);
    V du = hn::MulAdd(square, hn::Set(d, T(c * 3 * 0.044715)), hn::Set(d, T(c)));
    V bend = hn::Mul(hn::Mul(hn::Mul(x, du), hn::Mul(e, s)), s);
    // Beyond |x| = 100 it is zero, and the product could be infinity times zero.
    return hn::Add(s, hn::IfThenZeroElse(hn::Gt(square, hn::Set(d, T(1e4))), bend));
  }
};

/// Φ(-|x|) exp(x²/2) / u as a polynomial in t = 1 - u, u = 2K / (|x| + K), on the whole half line,
/// to 1e-8 and 4e-17; from interpolation at Chebyshev's points.
template <class T>
struct NormalTail;
template <>
struct NormalTail<float> {
  static constexpr float k = 3.5f;
  static constexpr float c[] = {
      0.106345153633705447f,     -0.0807945583898534439f,    0.0450607225647579121f,
      -0.0165784350562614979f,   0.00248657981912610576f,    0.000923604868100437412f,
      -0.000454140842955309775f, -0.0000596812283104501287f, 0.0000646705599611903636f,
      4.9478858316434207e-6f,    -7.1095556221094926e-6f};
};
template <>
struct NormalTail<double> {
  static constexpr double k = 4.5;
  static constexpr double c[] = {
      0.0848033921078003476,   -0.0711397511391795998,   0.0496058352284087566,
      -0.0281268666612255552,  0.0123758440633568663,    -0.00376348068616633127,
      0.000469290375580279674, 0.000194314505208708074,  -0.000101971833846255657,
      7.09033487549680651e-7,  0.0000124491926726233593, -1.77041644971884496e-6,
      -1.58178670256532644e-6, 3.54677921279228928e-7,   2.38151285870927439e-7,
      -5.59771000500446396e-8, -4.22312796182420878e-8,  7.34341835090645258e-9,
      7.91249216635789291e-9,  -6.87554730004476092e-10, -1.27864223257624293e-9,
      2.99419107901791588e-11, 1.21175581195441046e-10};
};

/// gelu(x) = x Φ(x), Φ the distribution of the standard normal.
struct GeluErf {
  template <class D, class V>
  static HWY_INLINE V distribution(D d, V x, V exponential) {
    using T = Element_of<D>;
    using N = NormalTail<T>;
    V u = hn::Div(hn::Set(d, 2 * N::k), hn::Add(hn::Abs(x), hn::Set(d, N::k)));
    V t = hn::Sub(hn::Set(d, T(1)), u);
    V tail = hn::Mul(hn::Mul(u, exponential), polynomial(d, t, N::c));
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, T(1)), tail));
  }
  /// exp(-x²/2)
  template <class D, class V>
  static HWY_INLINE V exponential(D d, V x) {
    return exp(d, hn::Mul(hn::Mul(x, x), hn::Set(d, Element_of<D>(-0.5))));
  }
  template <class D, class V>
  static HWY_INLINE V value(D d, V x) {
    return hn::Mul(x, distribution(d, x, exponential(d, x)));
  }
  template <class D, class V>
  static HWY_INLINE V slope(D d, V x) {
    V e = exponential(d, x);
    V density = hn::Mul(e, hn::Set(d, Element_of<D>(0.39894228040143267794)));
    return hn::MulAdd(x, density, distribution(d, x, e));
  }
};

struct Relu {
  template <class D, class V>
  static HWY_INLINE V value(D d, V x) {
    return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), x);
  }
  template <class D, class V>
  static HWY_INLINE V slope(D d, V x) {
    return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), hn::Set(d, Element_of<D>(1)));
  }
};

/// tanh(x) = 1 - 2 s, s the logistic function of -2x.
struct Tanh {
  template <class D, class V>
  static HWY_INLINE V rest(D d, V x) {
    V e = exp(d, hn::Add(x, x));
    return hn::Div(hn::Set(d, Element_of<D>(2)), hn::Add(e, hn::Set(d, Element_of<D>(1))));
  }
  template <class D, class V>
  static HWY_INLINE V value(D d, V x) {
    return hn::Sub(hn::Set(d, Element_of<D>(1)), rest(d, x));
  }
  /// (1 + tanh) (1 - tanh), without cancellation where x is large.
  template <class D, class V>
  static HWY_INLINE V slope(D d, V x) {
    V s = rest(d, x);
    return hn::Mul(s, hn::Sub(hn::Set(d, Element_of<D>(2)), s));
  }
};

template <class F, class T>
void forward_range(const T* x, T* y, std::int64_t n) {
  for_each<T>(
      n, [=](auto d, std::int64_t i) HWY_ATTR { store(F::value(d, load(d, x + i)), d, y + i); });
}

template <class F, class T>
void backward_range(const T* x, const T* dy, T* dx, std::int64_t n, bool add) {
  for_each<T>(n, [=](auto d, std::int64_t i) HWY_ATTR {
    auto slope = F::slope(d, load(d, x + i));
    put(d, hn::Mul(slope, load(d, dy + i)), dx + i, add);
  });
}

template <class T>
void forward(Activation f, const T* x, T* y, std::int64_t n) {
  switch (f) {
    case Activation::gelu_tanh:
      return forward_range<GeluTanh>(x, y, n);
    case Activation::gelu_erf:
      return forward_range<GeluErf>(x, y, n);
    case Activation::relu:
      return forward_range<Relu>(x, y, n);
    case Activation::silu:
      return forward_range<Silu>(x, y, n);
    case Activation::tanh:
      return forward_range<Tanh>(x, y, n);
  }
}

template <class T>
void backward(Activation f, const T* x, const T* dy, T* dx, std::int64_t n, bool add) {
  switch (f) {
    case Activation::gelu_tanh:
      return backward_range<GeluTanh>(x, dy, dx, n, add);
    case Activation::gelu_erf:
      return backward_range<GeluErf>(x, dy, dx, n, add);
    case Activation::relu:
      return backward_range<Relu>(x, dy, dx, n, add);
    case Activation::silu:
      return backward_range<Silu>(x, dy, dx, n, add);
    case Activation::tanh:
      return backward_range<Tanh>(x, dy, dx, n, add);
  }
}

template <class T>
ActivationTable<T> make_table() {
  return {forward<T>, backward<T>};
}
SINTER_TABLES(ActivationTable)

}  // namespace HWY_NAMESPACE
}  // namespace
}  // namespace sinter::kernel
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::kernel {
namespace {
SINTER_DISPATCH(ActivationTable)
}  // namespace

template <class T>
void activation_forward(Stream& stream, Activation f, Input<T> x, Tensor<T> y) {
  auto kernel = table<T>().forward;
  split(stream, x.size(), 4, 64,
        [&](auto begin, auto end) { kernel(f, x.data + begin, y.data + begin, end - begin); });
}

template <class T>
void activation_backward(Stream& stream, Activation f, Input<T> x, Input<T> dy, Tensor<T> dx) {
  auto kernel = table<T>().backward;
  split(stream, x.size(), 4, 64, [&](auto begin, auto end) {
    kernel(f, x.data + begin, dy.data + begin, dx.data + begin, end - begin, dx.add);
  });
}

#define SINTER_INSTANTIATE(T)                                                 \
  template void activation_forward(Stream&, Activation, Input<T>, Tensor<T>); \
  template void activation_backward(Stream&, Activation, Input<T>, Input<T>, Tensor<T>);
SINTER_EACH_ELEMENT(SINTER_INSTANTIATE)
#undef SINTER_INSTANTIATE

}  // namespace sinter::kernel
#endif  // HWY_ONCE

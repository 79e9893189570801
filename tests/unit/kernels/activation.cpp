// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/activation.hpp"

#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Activation;
using kernel::Stream;

namespace {

constexpr Activation all[] = {Activation::gelu_tanh, Activation::gelu_erf, Activation::relu,
                              Activation::silu, Activation::tanh};
constexpr long double pi = 3.14159265358979323846264338327950288L;

/// Value and slope, in extended precision.
std::pair<long double, long double> reference(Activation f, long double x) {
  switch (f) {
    case Activation::gelu_tanh: {
      long double c = std::sqrt(2 / pi), u = c * (x + 0.044715L * x * x * x), t = std::tanh(u);
      return {x / 2 * (1 + t), (1 + t) / 2 + x / 2 * (1 - t * t) * c * (1 + 3 * 0.044715L * x * x)};
    }
    case Activation::gelu_erf: {
      long double distribution = std::erfc(-x / std::sqrt(2.0L)) / 2;
      return {x * distribution, distribution + x * std::exp(-x * x / 2) / std::sqrt(2 * pi)};
    }
    case Activation::relu:
      return {x > 0 ? x : 0, x > 0 ? 1 : 0};
    case Activation::silu: {
      long double s = 1 / (1 + std::exp(-x)), rest = 1 / (1 + std::exp(x));
      return {x * s, s + x * s * rest};
    }
    case Activation::tanh: {
      long double t = std::tanh(x), c = 1 / std::cosh(std::min(std::abs(x), 1e3L));
      return {t, c * c};
    }
  }
  return {};
}

/// Numbers of every size, both signs, and zero.
template <class T>
std::vector<T> inputs() {
  std::vector<T> x = {0, T(-0.0), T(1e-30), T(-1e-30), 100, -100, 1e6, -1e6};
  for (double v = -12; v <= 12; v += 0.0037) x.push_back(T(v));
  return x;
}

}  // namespace

TEST_CASE_TEMPLATE("activations and their slopes are accurate", T, float, double) {
  on_every_instruction_set([] {
    const auto x = inputs<T>();
    const std::vector<T> ones(x.size(), 1);
    std::vector<T> y(x.size());
    for (Activation f : all) {
      CAPTURE(int(f));
      long double value_error = 0, slope_error = 0;
      auto values = same_on_all_threads([&](Stream& s) {
        return kernel::activation_forward(s, f, tensor(x, 1, std::int64_t(x.size())),
                                          tensor(y, 1, std::int64_t(x.size()))),
               y;
      });
      auto slopes = same_on_all_threads([&](Stream& s) {
        kernel::activation_backward(s, f, tensor(x, 1, std::int64_t(x.size())),
                                    tensor(ones, 1, std::int64_t(x.size())),
                                    tensor(y, 1, std::int64_t(x.size())));
        return y;
      });
      for (std::size_t i = 0; i < x.size(); ++i) {
        auto [value, slope] = reference(f, x[i]);
        value_error = std::max(
            value_error, std::abs(values[i] - value) / std::max(1.0L, std::abs((long double)x[i])));
        slope_error = std::max(slope_error, std::abs(slopes[i] - slope));
      }
      CHECK(value_error <= 4 * epsilon<T>());
      CHECK(slope_error <= 16 * epsilon<T>());
    }
  });
}

TEST_CASE_TEMPLATE("activations of odd sizes are right, in place and adding", T, float, double) {
  on_every_instruction_set([] {
    for (Activation f : all)
      for (int rows : {0, 1, 3, 17, 200})
        for (int columns : {1, 3, 17, 48}) {
          const int n = rows * columns;
          const auto x = normal_values<T>(n, 1), dy = normal_values<T>(n, 2);
          const auto before = normal_values<T>(n, 3);
          CAPTURE(int(f));
          CAPTURE(rows);
          CAPTURE(columns);
          std::vector<double> y(n), dx(n), sum(n);
          for (int i = 0; i < n; ++i) {
            auto [value, slope] = reference(f, x[i]);
            y[i] = double(value), dx[i] = double(slope * dy[i]), sum[i] = before[i] + dx[i];
          }
          CHECK(error_of(
                    same_on_all_threads([&](Stream& s) {
                      auto z = x;
                      return kernel::activation_forward(s, f, tensor(z, 1, n), tensor(z, 1, n)), z;
                    }),
                    y) <= 16);
          CHECK(error_of(same_on_all_threads([&](Stream& s) {
                           auto z = dy;
                           kernel::activation_backward(s, f, tensor(x, 1, n), tensor(z, 1, n),
                                                       tensor(z, 1, n));
                           return z;
                         }),
                         dx) <= 64);
          CHECK(error_of(same_on_all_threads([&](Stream& s) {
                           auto z = before;
                           kernel::activation_backward(s, f, tensor(x, 1, n), tensor(dy, 1, n),
                                                       tensor(z, 1, n, true));
                           return z;
                         }),
                         sum) <= 64);
        }
  });
}

TEST_CASE_TEMPLATE("a NaN stays a NaN, and slopes stay finite", T, float, double) {
  on_every_instruction_set([] {
    Stream stream(1);
    const T largest = std::numeric_limits<T>::max();
    for (Activation f : all) {
      std::vector<T> x(40, T(NAN)), y(40), dy(40, 1);
      kernel::activation_forward(stream, f, tensor(x, 1, 40), tensor(y, 1, 40));
      for (T v : y) CHECK(std::isnan(v));
      if (f != Activation::relu) {
        kernel::activation_backward(stream, f, tensor(x, 1, 40), tensor(dy, 1, 40),
                                    tensor(y, 1, 40));
        for (T v : y) CHECK(std::isnan(v));
      }
      for (T v : {largest, -largest, T(1e15), T(-1e15)}) {
        std::fill(x.begin(), x.end(), v);
        kernel::activation_backward(stream, f, tensor(x, 1, 40), tensor(dy, 1, 40),
                                    tensor(y, 1, 40));
        for (T slope : y)
          CHECK(std::abs(slope - (v > 0 && f != Activation::tanh ? 1 : 0)) <= 16 * epsilon<T>());
      }
    }
  });
}

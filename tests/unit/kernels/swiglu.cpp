// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/swiglu.hpp"

#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Stream;

namespace {

struct Term {
  long double value, scale;  // scale: what the header's bound is a multiple of
};
struct Reference {
  Term y, dgate, dup;
};
Reference reference(double gate, double up, double dy) {
  const long double z = gate, s = 1 / (1 + std::exp(-z)), rest = 1 / (1 + std::exp(z));
  const long double silu = z * s, slope = s + z * s * rest;
  const double size = std::max(std::abs(gate), 1.0);
  return {{silu * up, 4 * size * std::abs(up)},
          {slope * up * dy, 16 * std::abs(up * dy)},
          {silu * dy, 4 * size * std::abs(dy)}};
}

/// Whether got is want (+ before, with one rounding of the sum) within the bound.
template <class T>
bool within(T got, Term want, const T* before = nullptr) {
  const long double sum = want.value + (before ? *before : 0);
  const long double bound = want.scale + (before ? std::abs(sum) : 0);
  return std::abs(got - sum) <= epsilon<T>() * bound + std::numeric_limits<T>::min();
}

/// Columns [first, first + width) of rows of 2 width.
template <class T>
std::vector<T> half(const std::vector<T>& x, int first, int rows, int width) {
  std::vector<T> some;
  for (int r = 0; r < rows; ++r) {
    const auto from = x.begin() + std::int64_t(r) * 2 * width + first;
    some.insert(some.end(), from, from + width);
  }
  return some;
}

/// Of two operands, which lie apart, it is what it is of one: to rounding, as an element may be in
/// another place of a vector loop. y, dx, sum: of one, which are right.
template <class T>
void check_two_operands(const std::vector<T>& x, const std::vector<T>& dy,
                        const std::vector<T>& before, const std::vector<T>& y,
                        const std::vector<T>& dx, const std::vector<T>& sum, int rows, int width) {
  auto at = [&](const std::vector<T>& all, int which) {
    return half(all, which * width, rows, width);
  };
  const auto gate = at(x, 0), up = at(x, 1);
  const auto close = [&](const std::vector<T>& got, const std::vector<T>& want) {
    return error_of(got, {want.begin(), want.end()}) <= 16;
  };
  CHECK(close(same_on_all_threads([&](Stream& s) {
                std::vector<T> out(rows * width, T(NAN));
                kernel::swiglu_forward(s, tensor(gate, rows, width), tensor(up, rows, width),
                                       tensor(out, rows, width));
                return out;
              }),
              y));
  for (int adding : {0, 1})      // the gradient of which is added to
    for (int wanted : {0, 1}) {  // the gradient of which is looked at; the other may be unwanted
      const auto start =
          adding == wanted ? at(before, wanted) : std::vector<T>(gate.size(), T(NAN));
      auto gradient = [&](bool both) {
        return same_on_all_threads([&](Stream& s) {
          auto mine = start, theirs = at(before, 1 - wanted);
          auto own = tensor(mine, rows, width, adding == wanted);
          auto other = both ? tensor(theirs, rows, width, adding != wanted) : decltype(own){};
          kernel::swiglu_backward(s, tensor(gate, rows, width), tensor(up, rows, width),
                                  tensor(dy, rows, width), wanted == 0 ? own : other,
                                  wanted == 0 ? other : own);
          return mine;
        });
      };
      CHECK(close(gradient(true), at(adding == wanted ? sum : dx, wanted)));
      CHECK(same_bits(gradient(true), gradient(false)));
    }
}

template <class T>
void check(const std::vector<T>& x, int rows, int width) {
  CAPTURE(rows);
  CAPTURE(width);
  const auto dy = normal_values<T>(rows * width, 2), before = normal_values<T>(2 * rows * width, 3);
  const auto y = same_on_all_threads([&](Stream& s) {
    std::vector<T> out(rows * width, T(NAN));
    return kernel::swiglu_forward(s, tensor(x, rows, 2 * width), tensor(out, rows, width)), out;
  });
  auto gradient = [&](bool add, std::vector<T> start) {
    return same_on_all_threads([&](Stream& s) {
      auto dx = start;
      return kernel::swiglu_backward(s, tensor(x, rows, 2 * width), tensor(dy, rows, width),
                                     tensor(dx, rows, 2 * width, add)),
             dx;
    });
  };
  const auto dx = gradient(false, std::vector<T>(x.size(), T(NAN))), sum = gradient(true, before);
  bool values = true, gradients = true, sums = true;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < width; ++c) {
      const int gate = r * 2 * width + c, up = gate + width, at = r * width + c;
      const auto want = reference(x[gate], x[up], dy[at]);
      values &= within(y[at], want.y);
      gradients &= within(dx[gate], want.dgate) && within(dx[up], want.dup);
      sums &= within(sum[gate], want.dgate, &before[gate]);
      sums &= within(sum[up], want.dup, &before[up]);
    }
  CHECK(values);
  CHECK(gradients);
  CHECK(sums);
  check_two_operands(x, dy, before, y, dx, sum, rows, width);
  auto over = x;  // in place
  Stream stream(2);
  kernel::swiglu_backward(stream, tensor(over, rows, 2 * width), tensor(dy, rows, width),
                          tensor(over, rows, 2 * width));
  CHECK(same_bits(over, dx));
}

}  // namespace

TEST_CASE_TEMPLATE("SwiGLU of odd sizes is right, both directions, in place and adding", T, float,
                   double) {
  on_every_instruction_set([] {
    for (int rows : {0, 1, 3, 17, 200})
      for (int width : {1, 3, 17, 48, 130})
        check(normal_values<T>(2 * rows * width, 1), rows, width);
  });
}

TEST_CASE_TEMPLATE("SwiGLU of gates of every size is accurate", T, float, double) {
  on_every_instruction_set([] {
    std::vector<T> gates = {0, T(-0.0), T(1e-30), T(-1e-30), 100, -100, 1e6, -1e6};
    for (double v = -40; v <= 40; v += 0.0037) gates.push_back(T(v));
    const int width = int(gates.size());
    const auto up = normal_values<T>(width, 1);
    gates.insert(gates.end(), up.begin(), up.end());
    check(gates, 1, width);
  });
}

TEST_CASE_TEMPLATE("SwiGLU's NaN stays a NaN, and slopes stay finite", T, float, double) {
  on_every_instruction_set([] {
    Stream stream(1);
    const int width = 40;
    std::vector<T> x(2 * width, 1), y(width), dy(width, 1), dx(2 * width);
    for (int nan_in : {0, width}) {
      std::fill(x.begin(), x.end(), T(1));
      std::fill_n(x.begin() + nan_in, width, T(NAN));
      kernel::swiglu_forward(stream, tensor(x, 1, 2 * width), tensor(y, 1, width));
      for (T v : y) CHECK(std::isnan(v));
      kernel::swiglu_backward(stream, tensor(x, 1, 2 * width), tensor(dy, 1, width),
                              tensor(dx, 1, 2 * width));
      for (int i = 0; i < width; ++i) {
        CHECK(std::isnan(dx[i]));
        CHECK(std::isnan(dx[width + i]) == (nan_in == 0));
      }
    }
    const T largest = std::numeric_limits<T>::max();
    for (T v : {largest, -largest, T(1e15), T(-1e15)}) {
      std::fill_n(x.begin(), width, v);
      std::fill_n(x.begin() + width, width, T(1));
      kernel::swiglu_forward(stream, tensor(x, 1, 2 * width), tensor(y, 1, width));
      kernel::swiglu_backward(stream, tensor(x, 1, 2 * width), tensor(dy, 1, width),
                              tensor(dx, 1, 2 * width));
      for (int i = 0; i < width; ++i) {
        CHECK(y[i] == (v > 0 ? v : 0));
        CHECK(dx[i] == (v > 0 ? 1 : 0));
        CHECK(dx[width + i] == y[i]);
      }
    }
  });
}

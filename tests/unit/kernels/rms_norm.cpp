// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/normalize.hpp"

#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Stream;

namespace {

/// Values, and what the header's bounds are multiples of.
template <class T>
struct Reference {
  std::vector<Wider<T>> y, inverse, dx, dx_scale, dweight, dweight_scale;
};

template <class T>
Reference<T> reference(const std::vector<T>& x, const std::vector<T>& weight,
                       const std::vector<T>& dy, int rows, int width, double eps) {
  using W = Wider<T>;
  Reference<T> want;
  want.dweight.resize(width), want.dweight_scale.resize(width);
  for (int r = 0; r < rows; ++r) {
    auto at = [&](const std::vector<T>& m, int c) { return W(m[r * width + c]); };
    auto e = [&](int c) { return at(dy, c) * weight[c]; };
    W squares = 0, e_squares = 0, en = 0;
    for (int c = 0; c < width; ++c) squares += at(x, c) * at(x, c) / width;
    const W inverse = 1 / std::sqrt(squares + W(T(eps)));
    auto normal = [&](int c) { return at(x, c) * inverse; };
    for (int c = 0; c < width; ++c) {
      e_squares += e(c) * e(c) / width, en += e(c) * normal(c) / width;
      want.y.push_back(normal(c) * weight[c]);
      want.dweight[c] += at(dy, c) * normal(c);
      want.dweight_scale[c] += std::abs(at(dy, c) * normal(c));
    }
    for (int c = 0; c < width; ++c) {
      want.dx.push_back(inverse * (e(c) - normal(c) * en));
      want.dx_scale.push_back(inverse *
                              (std::abs(e(c)) + std::abs(normal(c)) * std::sqrt(e_squares)));
    }
    want.inverse.push_back(inverse);
  }
  return want;
}

template <class T>
void check_backward(const std::vector<T>& h, const std::vector<T>& weight,
                    const std::vector<T>& inverse, const std::vector<T>& dy,
                    const Reference<T>& want, int rows, int width) {
  const int n = rows * width;
  const auto before = normal_values<T>(n, 6), before2 = normal_values<T>(n, 7);
  const auto passed = normal_values<T>(n, 8), sums = normal_values<T>(width, 9);
  std::vector<T> scratch(kernel::normalize_scratch(1, width), T(NAN));
  for (int mask = 0; mask < 16; ++mask) {
    const bool has_dh = mask & 1, add_dx = mask & 2, add_dx2 = mask & 4, add_weight = mask & 8;
    CAPTURE(has_dh);
    CAPTURE(add_dx);
    CAPTURE(add_dx2);
    CAPTURE(add_weight);
    std::vector<T> dx, dx2, dweight;
    same_on_all_threads([&](Stream& s) {
      dx = before, dx2 = before2, dweight = sums;
      kernel::normalize_backward(s, tensor(h, rows, width), tensor(weight, 1, width), {},
                                 tensor(inverse, rows, 1), tensor(dy, rows, width),
                                 kernel::Tensor(has_dh ? passed.data() : nullptr, rows, width),
                                 tensor(dx, rows, width, add_dx), tensor(dx2, rows, width, add_dx2),
                                 tensor(dweight, 1, width, add_weight), {}, scratch.data());
      auto all = dx;
      for (const auto* part : {&dx2, &dweight}) all.insert(all.end(), part->begin(), part->end());
      return all;
    });
    auto share_of_dx = [&](const std::vector<T>& got, bool add, const std::vector<T>& old) {
      Added<T> added;
      if (has_dh) added.push_back(&passed);
      if (add) added.push_back(&old);
      return share_of_bound(got, want.dx, want.dx_scale, 16 + width, added);
    };
    CHECK(share_of_dx(dx, add_dx, before) <= 1);
    CHECK(share_of_dx(dx2, add_dx2, before2) <= 1);
    Added<T> added;
    if (add_weight) added.push_back(&sums);
    if (rows == 0) continue;
    CHECK(share_of_bound(dweight, want.dweight, want.dweight_scale, 32 + rows / 64. + width / 8.,
                         added) <= 1);
  }
}

template <class T>
void check(int rows, int width, double eps = 1e-6, double deviation = 1) {
  CAPTURE(rows);
  CAPTURE(width);
  CAPTURE(eps);
  const int n = rows * width;
  const auto a = normal_values<T>(n, 1, deviation), b = normal_values<T>(n, 2, deviation);
  const auto dy = normal_values<T>(n, 3), weight = normal_values<T>(width, 4);
  std::vector<T> h(n), y(n), inverse(rows);
  for (int i = 0; i < n; ++i) h[i] = a[i] + b[i];
  const auto want = reference(h, weight, dy, rows, width, eps);
  auto plain = same_on_all_threads([&](Stream& s) {
    y = h;  // in place
    kernel::normalize_forward(s, tensor(y, rows, width), tensor(weight, 1, width), {},
                              tensor(y, rows, width), {}, tensor(inverse, rows, 1), eps);
    return y;
  });
  CHECK(share_of_bound(plain, want.y, want.y, 4 + width / 8.) <= 1);
  CHECK(share_of_bound(inverse, want.inverse, want.inverse, 4 + width / 8.) <= 1);

  auto fused = same_on_all_threads([&](Stream& s) {
    auto sums = a;  // in place
    std::vector<T> same(rows);
    kernel::add_normalize_forward(s, tensor(sums, rows, width), tensor(b, rows, width),
                                  tensor(weight, 1, width), {}, tensor(sums, rows, width),
                                  tensor(y, rows, width), {}, tensor(same, rows, 1), eps);
    CHECK(same_bits(sums, h));
    CHECK(same_bits(same, inverse));
    return y;
  });
  CHECK(same_bits(fused, plain));
  check_backward(h, weight, inverse, dy, want, rows, width);
}

}  // namespace

TEST_CASE_TEMPLATE(
    "RMS norm, alone and with the residual sum, equals its definition, both directions", T, float,
    double) {
  on_every_instruction_set([] {
    for (int rows : {0, 1, 3, 17, 200})
      for (int width : {1, 3, 17, 48, 130}) check<T>(rows, width);
    check<T>(1025, 64);
    check<T>(20, 40, .25);         // an eps that counts
    check<T>(20, 40, 1e-6, 1e-4);  // numbers far below its root
  });
}

TEST_CASE_TEMPLATE("RMS norm's backward is right without a weight, over its own input", T, float,
                   double) {
  Stream stream(2);
  const int rows = 50, width = 48;
  const auto x = normal_values<T>(rows * width, 1), dy = normal_values<T>(rows * width, 2);
  const auto weight = normal_values<T>(width, 3);
  const auto want = reference(x, weight, dy, rows, width, 1e-6);
  std::vector<T> y(rows * width), inverse(rows);
  kernel::normalize_forward(stream, tensor(x, rows, width), tensor(weight, 1, width), {},
                            tensor(y, rows, width), {}, tensor(inverse, rows, 1), 1e-6);
  auto dx = dy;
  kernel::normalize_backward<T, T, T>(stream, tensor(x, rows, width), tensor(weight, 1, width), {},
                                      tensor(inverse, rows, 1), tensor(dx, rows, width), {},
                                      tensor(dx, rows, width), {}, {}, {}, nullptr);
  CHECK(share_of_bound(dx, want.dx, want.dx_scale, 16 + width) <= 1);
}

TEST_CASE_TEMPLATE("RMS norm of zeros is zero and has a slope", T, float, double) {
  Stream stream(1);
  const int width = 24;
  std::vector<T> x(width), y(width, T(NAN)), dx(width), weight(width, 2), dy(width, 3), inverse(1);
  kernel::normalize_forward(stream, tensor(x, 1, width), tensor(weight, 1, width), {},
                            tensor(y, 1, width), {}, tensor(inverse, 1, 1), 0.25);
  CHECK(inverse[0] == 2);
  for (T v : y) CHECK(v == 0);
  kernel::normalize_backward<T, T, T>(stream, tensor(x, 1, width), tensor(weight, 1, width), {},
                                      tensor(inverse, 1, 1), tensor(dy, 1, width), {},
                                      tensor(dx, 1, width), {}, {}, {}, nullptr);
  for (T v : dx) CHECK(v == 12);
}

// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/normalize.hpp"

#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Stream;

namespace {

constexpr double eps = 1e-5;

/// Values, and what the header's bounds are multiples of.
template <class T, class W = Wider<T>>
struct Reference {
  using Values = std::vector<W>;
  Values y, y_scale, mean, mean_scale, inverse, dx, dx_scale;
  Values dweight, dweight_scale, dbias, dbias_scale;

  Reference(const std::vector<T>& x, const std::vector<T>& weight, const std::vector<T>& bias,
            const std::vector<T>& dy, int rows, int width)
      : dweight(width), dweight_scale(width), dbias(width), dbias_scale(width) {
    for (int r = 0; r < rows; ++r)
      row(x.data() + r * width, weight, bias, dy.data() + r * width, width);
  }

 private:
  void row(const T* x, const std::vector<T>& weight, const std::vector<T>& bias, const T* dy,
           int width) {
    W sum = 0, size = 0, squares = 0, sum_e = 0, sum_en = 0, e_squares = 0;
    for (int c = 0; c < width; ++c) sum += x[c] / W(width), size += std::abs(x[c]) / W(width);
    for (int c = 0; c < width; ++c) squares += (x[c] - sum) * (x[c] - sum) / width;
    const W one_over = 1 / std::sqrt(squares + W(T(eps))), away = size * one_over;
    auto normal = [&](int c) { return (x[c] - sum) * one_over; };
    auto e = [&](int c) { return W(dy[c]) * weight[c]; };
    for (int c = 0; c < width; ++c) {
      const W spread = std::abs(normal(c)) + away;
      sum_e += e(c) / width, sum_en += e(c) * normal(c) / width, e_squares += e(c) * e(c) / width;
      y.push_back(normal(c) * weight[c] + bias[c]);
      y_scale.push_back(spread * std::abs(weight[c]) + std::abs(bias[c]));
      dweight[c] += dy[c] * normal(c), dweight_scale[c] += std::abs(dy[c]) * spread;
      dbias[c] += dy[c], dbias_scale[c] += std::abs(dy[c]);
    }
    for (int c = 0; c < width; ++c) {
      dx.push_back(one_over * (e(c) - sum_e - normal(c) * sum_en));
      dx_scale.push_back(one_over * (std::abs(e(c)) + (1 + std::abs(normal(c))) * (1 + away) *
                                                          std::sqrt(e_squares)));
    }
    mean.push_back(sum), mean_scale.push_back(size), inverse.push_back(one_over);
  }
};

template <class T>
void check(int rows, int width) {
  CAPTURE(rows);
  CAPTURE(width);
  const int n = rows * width;
  const auto a = normal_values<T>(n, 1), b = normal_values<T>(n, 2), dy = normal_values<T>(n, 3);
  const auto weight = normal_values<T>(width, 4), bias = normal_values<T>(width, 5);
  std::vector<T> h(n), y(n), mean(rows), inverse(rows);
  for (int i = 0; i < n; ++i) h[i] = a[i] + b[i];
  const Reference<T> want(h, weight, bias, dy, rows, width);

  auto plain = same_on_all_threads([&](Stream& s) {
    kernel::normalize_forward(s, tensor(h, rows, width), tensor(weight, 1, width),
                              tensor(bias, 1, width), tensor(y, rows, width), tensor(mean, rows, 1),
                              tensor(inverse, rows, 1), eps);
    return y;
  });
  CHECK(share_of_bound(plain, want.y, want.y_scale, 4 + width / 8.) <= 1);
  CHECK(share_of_bound(mean, want.mean, want.mean_scale, 2 + width / 8.) <= 1);
  CHECK(share_of_bound(inverse, want.inverse, want.inverse, 4 + width / 8.) <= 1);

  auto fused = same_on_all_threads([&](Stream& s) {
    auto sums = a;  // in place
    kernel::add_normalize_forward(s, tensor(sums, rows, width), tensor(b, rows, width),
                                  tensor(weight, 1, width), tensor(bias, 1, width),
                                  tensor(sums, rows, width), tensor(y, rows, width),
                                  tensor(mean, rows, 1), tensor(inverse, rows, 1), eps);
    CHECK(same_bits(sums, h));
    return y;
  });
  CHECK(same_bits(fused, plain));

  const auto before = normal_values<T>(n, 6), before2 = normal_values<T>(n, 7);
  const auto passed = normal_values<T>(n, 8), sums = normal_values<T>(2 * width, 9);
  std::vector<T> scratch(kernel::normalize_scratch(2, width), T(NAN));
  for (int mask = 0; mask < 16; ++mask) {
    const bool has_dh = mask & 1, add_dx = mask & 2, add_dx2 = mask & 4, add_weights = mask & 8;
    CAPTURE(has_dh);
    CAPTURE(add_dx);
    CAPTURE(add_dx2);
    CAPTURE(add_weights);
    std::vector<T> dx, dx2, dweight, dbias;
    same_on_all_threads([&](Stream& s) {
      dx = before, dx2 = before2;
      dweight.assign(sums.begin(), sums.begin() + width);
      dbias.assign(sums.begin() + width, sums.end());
      kernel::normalize_backward(s, tensor(h, rows, width), tensor(weight, 1, width),
                                 tensor(mean, rows, 1), tensor(inverse, rows, 1),
                                 tensor(dy, rows, width),
                                 kernel::Tensor(has_dh ? passed.data() : nullptr, rows, width),
                                 tensor(dx, rows, width, add_dx), tensor(dx2, rows, width, add_dx2),
                                 tensor(dweight, 1, width, add_weights),
                                 tensor(dbias, 1, width, add_weights), scratch.data());
      auto all = dx;
      for (const auto* part : {&dx2, &dweight, &dbias})
        all.insert(all.end(), part->begin(), part->end());
      return all;
    });
    auto share_of_dx = [&](const std::vector<T>& got, bool add, const std::vector<T>& old) {
      Added<T> added;
      if (has_dh) added.push_back(&passed);
      if (add) added.push_back(&old);
      return share_of_bound(got, want.dx, want.dx_scale, 8 + width / 8., added);
    };
    CHECK(share_of_dx(dx, add_dx, before) <= 1);
    CHECK(share_of_dx(dx2, add_dx2, before2) <= 1);
    const std::vector<T> w(sums.begin(), sums.begin() + width), c(sums.begin() + width, sums.end());
    auto sum_of = [&](const std::vector<T>& old) {
      return add_weights ? Added<T>{&old} : Added<T>{};
    };
    const double factor = 16 + rows / 64.;
    CHECK(share_of_bound(dweight, want.dweight, want.dweight_scale, factor + width / 8.,
                         sum_of(w)) <= 1);
    CHECK(share_of_bound(dbias, want.dbias, want.dbias_scale, factor, sum_of(c)) <= 1);
  }
}

}  // namespace

TEST_CASE_TEMPLATE(
    "layer norm, alone and with the residual sum, equals its definition, both directions", T, float,
    double) {
  on_every_instruction_set([] {
    for (int rows : {0, 1, 3, 17, 200})
      for (int width : {1, 3, 17, 48, 130}) check<T>(rows, width);
    check<T>(1025, 64);
  });
}

TEST_CASE_TEMPLATE("layer norm's backward is right over its own input, with weights and without", T,
                   float, double) {
  Stream stream(2);
  const int rows = 50, width = 48;
  const auto x = normal_values<T>(rows * width, 1), dy = normal_values<T>(rows * width, 2);
  const auto weight = normal_values<T>(width, 3), bias = normal_values<T>(width, 4);
  std::vector<T> y(rows * width), mean(rows), inverse(rows);
  kernel::normalize_forward(stream, tensor(x, rows, width), tensor(weight, 1, width),
                            tensor(bias, 1, width), tensor(y, rows, width), tensor(mean, rows, 1),
                            tensor(inverse, rows, 1), eps);
  const Reference<T> want(x, weight, bias, dy, rows, width);
  const auto backward = [&](const std::vector<T>& from, std::vector<T>& dx, auto dweight,
                            auto dbias) {
    std::vector<T> scratch(kernel::normalize_scratch(2, width));
    kernel::normalize_backward<T, T, T>(stream, tensor(x, rows, width), tensor(weight, 1, width),
                                        tensor(mean, rows, 1), tensor(inverse, rows, 1),
                                        tensor(from, rows, width), {}, tensor(dx, rows, width), {},
                                        dweight, dbias, scratch.data());
    CHECK(share_of_bound(dx, want.dx, want.dx_scale, 8 + width / 8.) <= 1);
  };
  auto dx = dy;
  backward(dx, dx, kernel::Tensor<T>(), kernel::Tensor<T>());
  std::vector<T> elsewhere(rows * width), sums[2][2];
  for (auto& [dweight, dbias] : sums) dweight = dbias = std::vector<T>(width);
  const auto with_weights = [&](const std::vector<T>& from, std::vector<T>& to, auto& of) {
    backward(from, to, tensor(of[0], 1, width), tensor(of[1], 1, width));
  };
  with_weights(dy, elsewhere, sums[0]);
  dx = dy;
  with_weights(dx, dx, sums[1]);
  CHECK(sums[0][0] == sums[1][0]);
  CHECK(sums[0][1] == sums[1][1]);
}

TEST_CASE_TEMPLATE("layer norm of values far from zero is exact to their rounding", T, float,
                   double) {
  Stream stream(1);
  const int width = 64;
  std::vector<T> x(width), y(width), weight(width, 1), bias(width, 0), mean(1), inverse(1);
  for (int c = 0; c < width; ++c) x[c] = T(1024 + (c % 2 ? 1 : -1));
  kernel::normalize_forward(stream, tensor(x, 1, width), tensor(weight, 1, width),
                            tensor(bias, 1, width), tensor(y, 1, width), tensor(mean, 1, 1),
                            tensor(inverse, 1, 1), 0);
  for (int c = 0; c < width; ++c) CHECK(y[c] == (c % 2 ? 1 : -1));
}

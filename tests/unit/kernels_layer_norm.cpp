#include "sinter/kernels/layer_norm.hpp"

#include "kernels_support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::testing;
using kernel::Stream;

namespace {

constexpr double eps = 1e-5;

struct Reference {
  std::vector<double> y, mean, inverse, dx, dweight, dbias;
};

template <class T>
Reference reference(const std::vector<T>& x, const std::vector<T>& weight,
                    const std::vector<T>& bias, const std::vector<T>& dy, int rows, int width) {
  Reference want{std::vector<double>(x.size()), std::vector<double>(rows),
                 std::vector<double>(rows),     std::vector<double>(x.size()),
                 std::vector<double>(width),    std::vector<double>(width)};
  for (int r = 0; r < rows; ++r) {
    auto at = [&](const std::vector<T>& m, int c) { return double(m[r * width + c]); };
    double mean = 0, variance = 0, e = 0, en = 0;
    for (int c = 0; c < width; ++c) mean += at(x, c) / width;
    for (int c = 0; c < width; ++c) variance += (at(x, c) - mean) * (at(x, c) - mean) / width;
    const double inverse = 1 / std::sqrt(variance + eps);
    auto normal = [&](int c) { return (at(x, c) - mean) * inverse; };
    for (int c = 0; c < width; ++c) {
      e += at(dy, c) * weight[c] / width, en += at(dy, c) * weight[c] * normal(c) / width;
      want.y[r * width + c] = normal(c) * weight[c] + bias[c];
      want.dweight[c] += at(dy, c) * normal(c), want.dbias[c] += at(dy, c);
    }
    for (int c = 0; c < width; ++c)
      want.dx[r * width + c] = inverse * (at(dy, c) * weight[c] - e - normal(c) * en);
    want.mean[r] = mean, want.inverse[r] = inverse;
  }
  return want;
}

std::vector<double> sum(std::vector<double> a, const auto& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += double(b[i]);
  return a;
}

template <class T>
void check(int rows, int width) {
  CAPTURE(rows);
  CAPTURE(width);
  const int n = rows * width;
  const auto a = normal_values<T>(n, 1), b = normal_values<T>(n, 2), dy = normal_values<T>(n, 3);
  const auto weight = normal_values<T>(width, 4), bias = normal_values<T>(width, 5);
  std::vector<T> h(n), y(n), mean(rows), inverse(rows);
  for (int i = 0; i < n; ++i) h[i] = a[i] + b[i];
  const auto want = reference(h, weight, bias, dy, rows, width);
  const double slack = width == 1 ? 400 : 16;  // one column: 1 / √eps magnifies rounding

  auto plain = same_on_all_threads([&](Stream& s) {
    kernel::layer_norm_forward(s, h.data(), weight.data(), bias.data(), y.data(), mean.data(),
                               inverse.data(), rows, width, eps);
    return y;
  });
  CHECK(error_of(plain, want.y) <= slack);
  CHECK(error_of(mean, want.mean) <= slack);
  CHECK(error_of(inverse, want.inverse) <= slack);

  auto fused = same_on_all_threads([&](Stream& s) {
    auto sums = a;  // in place
    kernel::add_layer_norm_forward(s, sums.data(), b.data(), weight.data(), bias.data(),
                                   sums.data(), y.data(), mean.data(), inverse.data(), rows, width,
                                   eps);
    CHECK(same_bits(sums, h));
    return y;
  });
  CHECK(same_bits(fused, plain));

  const auto before = normal_values<T>(n, 6), before2 = normal_values<T>(n, 7);
  const auto passed = normal_values<T>(n, 8), sums = normal_values<T>(2 * width, 9);
  std::vector<T> scratch(kernel::layer_norm_scratch(width), T(NAN));
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
      kernel::layer_norm_backward(s, h.data(), weight.data(), mean.data(), inverse.data(),
                                  dy.data(), has_dh ? passed.data() : nullptr, dx.data(),
                                  dx2.data(), add_dx, add_dx2, dweight.data(), dbias.data(),
                                  add_weights, rows, width, scratch.data());
      auto all = dx;
      for (const auto* part : {&dx2, &dweight, &dbias})
        all.insert(all.end(), part->begin(), part->end());
      return all;
    });
    auto gradient = has_dh ? sum(want.dx, passed) : want.dx;
    const double scale = width == 1 ? 300 : 4;
    CHECK(error_of(dx, add_dx ? sum(gradient, before) : gradient, scale) <= 32);
    CHECK(error_of(dx2, add_dx2 ? sum(gradient, before2) : gradient, scale) <= 32);
    const std::vector<T> w(sums.begin(), sums.begin() + width), c(sums.begin() + width, sums.end());
    CHECK(error_of(dweight, add_weights ? sum(want.dweight, w) : want.dweight, rows + 1) <= slack);
    CHECK(error_of(dbias, add_weights ? sum(want.dbias, c) : want.dbias, rows + 1) <= 16);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("layer norm, alone and with the residual sum, both directions", T, float,
                   double) {
  on_every_instruction_set([] {
    for (int rows : {0, 1, 3, 17, 200})
      for (int width : {1, 3, 17, 48, 130}) check<T>(rows, width);
    check<T>(1025, 64);
  });
}

TEST_CASE_TEMPLATE("layer norm's backward without weights, over its own input", T, float, double) {
  Stream stream(2);
  const int rows = 50, width = 48;
  const auto x = normal_values<T>(rows * width, 1), dy = normal_values<T>(rows * width, 2);
  const auto weight = normal_values<T>(width, 3), bias = normal_values<T>(width, 4);
  std::vector<T> y(rows * width), mean(rows), inverse(rows);
  kernel::layer_norm_forward(stream, x.data(), weight.data(), bias.data(), y.data(), mean.data(),
                             inverse.data(), rows, width, eps);
  auto dx = dy;
  kernel::layer_norm_backward<T, T, T>(stream, x.data(), weight.data(), mean.data(), inverse.data(),
                                       dx.data(), nullptr, dx.data(), nullptr, false, false,
                                       nullptr, nullptr, false, rows, width, nullptr);
  CHECK(error_of(dx, reference(x, weight, bias, dy, rows, width).dx, 4) <= 32);
}

TEST_CASE_TEMPLATE("layer norm of values far from zero is exact to their rounding", T, float,
                   double) {
  Stream stream(1);
  const int width = 64;
  std::vector<T> x(width), y(width), weight(width, 1), bias(width, 0), mean(1), inverse(1);
  for (int c = 0; c < width; ++c) x[c] = T(1024 + (c % 2 ? 1 : -1));
  kernel::layer_norm_forward(stream, x.data(), weight.data(), bias.data(), y.data(), mean.data(),
                             inverse.data(), 1, width, 0);
  for (int c = 0; c < width; ++c) CHECK(y[c] == (c % 2 ? 1 : -1));
}

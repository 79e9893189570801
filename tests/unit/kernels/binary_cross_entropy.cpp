// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/binary_cross_entropy.hpp"

#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Stream;

namespace {

/// By the definition, with a logarithm for each answer, and what the header's bounds are multiples of.
template <class T, class W = Wider<T>>
struct Answers {
  std::vector<W> losses, loss_bounds, dx, bounds, dtarget;

  Answers(const std::vector<T>& x, const std::vector<T>& target, double weight, int rows, int width)
      : losses(rows), loss_bounds(rows), dx(x.size()), bounds(x.size()), dtarget(x.size()) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const W logit = x[i], t = target[i], p = 1 / (1 + std::exp(-logit));
      losses[i / width] -= t * std::log(p) + (1 - t) * std::log(1 / (1 + std::exp(logit)));
      loss_bounds[i / width] +=
          std::abs(logit) + std::abs(logit * t) + std::log1p(std::exp(-std::abs(logit)));
      dx[i] = weight * (p - t);
      bounds[i] = weight * (4 * p + std::abs(p - t));
      dtarget[i] = -weight * logit;
    }
  }
};

template <class T>
std::vector<T> some_answers(int n) {
  std::vector<T> target(n);
  for (int i = 0; i < n; ++i) target[i] = i % 7 == 3 ? T(0.25) : T(i * 5 % 3 == 1);
  return target;
}

}  // namespace

TEST_CASE_TEMPLATE("binary cross-entropy follows its definition", T, float, double) {
  const double weight = 0.3;
  for (int rows : {0, 1, 3, 17, 300})
    for (int width : {1, 3, 17, 130})
      for (bool add : {false, true}) {
        CAPTURE(rows);
        CAPTURE(width);
        CAPTURE(add);
        const int n = rows * width;
        const auto x = normal_values<T>(n, 1, 3), target = some_answers<T>(n);
        const auto before = normal_values<T>(n, 3), target_before = normal_values<T>(n, 4);
        const Answers<T> want(x, target, weight, rows, width);
        std::vector<T> losses(rows, T(NAN)), only(rows, T(NAN)), dtarget;
        const auto dx = same_on_all_threads([&](Stream& s) {
          auto out = before;
          dtarget = target_before;
          kernel::binary_cross_entropy(s, tensor(x, rows, width), tensor(target, rows, width),
                                       tensor(losses, rows, 1), tensor(out, rows, width, add),
                                       tensor(dtarget, rows, width, add), weight);
          kernel::binary_cross_entropy<T, T>(s, tensor(x, rows, width), tensor(target, rows, width),
                                             tensor(only, rows, 1), {}, {}, weight);
          return out;
        });
        CHECK(share_of_bound(losses, want.losses, want.loss_bounds, 3 + std::sqrt(width) / 2) <= 1);
        CHECK(share_of_bound(dx, want.dx, want.bounds, 1, add ? Added<T>{&before} : Added<T>{}) <=
              1);
        CHECK(share_of_bound(dtarget, want.dtarget, want.dtarget, 1,
                             add ? Added<T>{&target_before} : Added<T>{}) <= 1);
        CHECK(same_bits(only, losses));
        if (add) continue;
        const auto in_place = same_on_all_threads([&](Stream& s) {
          auto out = x;
          kernel::binary_cross_entropy<T, T>(s, tensor(out, rows, width),
                                             tensor(target, rows, width), tensor(losses, rows, 1),
                                             tensor(out, rows, width), {}, weight);
          return out;
        });
        CHECK(same_bits(in_place, dx));
      }
}

TEST_CASE_TEMPLATE("binary cross-entropy of large logits, and of what is not a number", T, float,
                   double) {
  Stream stream(1);
  const std::vector<T> x{T(-1e4), T(1e4), T(1e4), T(-1e4)}, target{0, 1, 0, 1};
  std::vector<T> losses(4), dx(4);
  const auto compute = [&](const std::vector<T>& logits) {
    kernel::binary_cross_entropy<T, T>(stream, tensor(logits, 4, 1), tensor(target, 4, 1),
                                       tensor(losses, 4, 1), tensor(dx, 4, 1), {}, 1);
  };
  compute(x);
  CHECK(losses == std::vector<T>{0, 0, 10000, 10000});
  CHECK(dx == std::vector<T>{0, 0, 1, -1});
  compute({T(NAN), T(INFINITY), T(-INFINITY), 0});
  for (int k : {0, 1, 2}) CHECK(!std::isfinite(losses[std::size_t(k)] + dx[std::size_t(k)] * 0));
  CHECK(losses[3] == doctest::Approx(std::log(2)));
}

TEST_CASE_TEMPLATE("narrow results of binary cross-entropy are those of fp32, rounded", H,
                   sinter::BFloat16, sinter::Float16) {
  const int rows = 5, width = 19, n = rows * width;
  const auto widened = [](const std::vector<H>& x) {
    return std::vector<float>(x.begin(), x.end());
  };
  const std::vector<H> x = normal_values<H>(n, 1), target = some_answers<H>(n),
                       old = normal_values<H>(n, 3);
  Stream stream(2);
  std::vector<float> losses(rows), want_losses(rows);
  for (bool add : {false, true}) {
    std::vector<H> dx = old;
    std::vector<float> want = widened(old);
    kernel::binary_cross_entropy<H, float>(stream, tensor(x, rows, width),
                                           tensor(target, rows, width), tensor(losses, rows, 1),
                                           tensor(dx, rows, width, add), {}, .01);
    kernel::binary_cross_entropy<float, float>(
        stream, tensor(widened(x), rows, width), tensor(widened(target), rows, width),
        tensor(want_losses, rows, 1), tensor(want, rows, width, add), {}, .01);
    CHECK(same_bits(losses, want_losses));
    for (int i = 0; i < n; ++i) CHECK(float(dx[std::size_t(i)]) == float(H(want[std::size_t(i)])));
  }
}

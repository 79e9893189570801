// SPDX-License-Identifier: Apache-2.0
// Kernels of elementwise optimizers against their definitions: the first by hand, and each that Sinter
// ships by its formula (update_one).
#include "sinter/recipe/techniques.hpp"

#include "support/spans.hpp"
#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter;
using namespace sinter::detail;
using namespace sinter::detail::testing;
using kernel::Decision;
using kernel::Stream;

template <class T>
constexpr T* none = nullptr;

TEST_CASE_TEMPLATE("AdamW follows its definition over several steps", T, float, double) {
  on_every_instruction_set([] {
    for (std::int64_t n : {0, 1, 3, 17, 1000, 40001})
      for (double beta1 : {0.9, 0.4}) {
        CAPTURE(n);
        CAPTURE(beta1);
        const auto start = normal_values<T>(n, 1);
        std::vector<T> m, v;
        auto p = same_on_all_threads([&](Stream& s) {
          auto master = start;
          m.assign(n, 0), v.assign(n, 0);
          for (int t = 1; t <= 5; ++t) {
            const auto g = normal_values<T>(n, 10 + t, 0.01);
            const Decision decision{.scale = 0.7};
            kernel::adamw({.beta1 = beta1, .weight_decay = 0.1},
                          span_of<T, T, T, T>(s, master.data(), g.data(), {m.data(), v.data()},
                                              none<T>, n, {0.01, t, &decision}));
          }
          return master;
        });
        std::vector<double> want(start.begin(), start.end()), wm(n), wv(n);
        for (int t = 1; t <= 5; ++t) {
          const auto gradients = normal_values<T>(n, 10 + t, 0.01);
          for (std::int64_t i = 0; i < n; ++i) {
            const double g = 0.7 * double(gradients[i]);
            want[i] *= 1 - 0.01 * 0.1;
            wm[i] = beta1 * wm[i] + (1 - beta1) * g;
            wv[i] = 0.999 * wv[i] + 0.001 * g * g;
            want[i] -= 0.01 / (1 - std::pow(beta1, t)) * wm[i] /
                       (std::sqrt(wv[i]) / std::sqrt(1 - std::pow(0.999, t)) + 1e-8);
          }
        }
        CHECK(error_of(p, want) <= 16);
        CHECK(error_of(m, wm, 0.01) <= 16);
        CHECK(error_of(v, wv, 1e-5) <= 16);
      }
  });
}

TEST_CASE_TEMPLATE("SGD follows its definition with and without momentum and decay", T, float,
                   double) {
  on_every_instruction_set([] {
    for (std::int64_t n : {0, 1, 3, 17, 1000, 40001})
      for (double momentum : {0.0, 0.9})
        for (double decay : {0.0, 0.1}) {
          CAPTURE(n);
          CAPTURE(momentum);
          CAPTURE(decay);
          const auto start = normal_values<T>(n, 1);
          auto p = same_on_all_threads([&](Stream& s) {
            auto master = start;
            std::vector<T> buffer(n, T(NAN));  // the first step must not read it
            for (int t = 1; t <= 4; ++t) {
              const auto g = normal_values<T>(n, 10 + t);
              const Decision decision{.scale = 0.5};
              kernel::sgd({.momentum = momentum, .weight_decay = decay},
                          span_of<T, T, T, T>(s, master.data(), g.data(),
                                              {momentum ? buffer.data() : nullptr}, none<T>, n,
                                              {0.1, t, &decision}));
            }
            return master;
          });
          std::vector<double> want(start.begin(), start.end()), buffer(n);
          for (int t = 1; t <= 4; ++t) {
            const auto gradients = normal_values<T>(n, 10 + t);
            for (std::int64_t i = 0; i < n; ++i) {
              const double g = 0.5 * double(gradients[i]) + decay * want[i];
              buffer[i] = t == 1 ? g : momentum * buffer[i] + g;
              want[i] -= 0.1 * buffer[i];
            }
          }
          CHECK(error_of(p, want) <= 16);
        }
  });
}

TEST_CASE_TEMPLATE("one step of AdamW and of SGD is as accurate as the header says", T, float,
                   double) {
  using W = Wider<T>;
  on_every_instruction_set([] {
    const std::int64_t n = 5003;
    const auto p = normal_values<T>(n, 1), g = normal_values<T>(n, 2, 0.01);
    const auto m = normal_values<T>(n, 3, 0.01);
    auto v = normal_values<T>(n, 4, 1e-4);
    for (T& x : v) x = std::abs(x);
    const double lr = 0.01, decay = 0.1, scale = 0.7, beta2 = 0.999, eps = 1e-8;
    for (double beta : {0.9, 0.4}) {
      CAPTURE(beta);
      const Decision decision{.scale = scale};
      const SpanStep step{lr, 20, &decision};
      const W correction1 = 1 - std::pow(W(beta), 20), correction2 = 1 - std::pow(W(beta2), 20);
      Stream stream(2);
      auto got = p, got_m = m, got_v = v;
      kernel::adamw({lr, beta, beta2, eps, decay},
                    span_of<T, T, T, T>(stream, got.data(), g.data(), {got_m.data(), got_v.data()},
                                        none<T>, n, step));
      auto sgd = p, buffer = m;
      kernel::sgd(
          {.momentum = beta, .weight_decay = decay},
          span_of<T, T, T, T>(stream, sgd.data(), g.data(), {buffer.data()}, none<T>, n, step));
      std::vector<W> want(n), size(n), mean(n), mean_size(n), square(n);
      std::vector<W> descent(n), descent_size(n), sum(n), sum_size(n);
      for (std::int64_t i = 0; i < n; ++i) {
        const W slope = W(scale) * g[i];
        mean[i] = W(beta) * m[i] + (1 - W(beta)) * slope;
        mean_size[i] = std::abs(m[i]) + std::abs(slope);
        square[i] = W(beta2) * v[i] + (1 - W(beta2)) * slope * slope;
        const W root = std::sqrt(square[i]) / std::sqrt(correction2) + eps,
                rate = W(lr) / correction1;
        want[i] = p[i] * (1 - W(lr) * decay) - rate * mean[i] / root;
        size[i] = std::abs(p[i]) + 2 * rate * mean_size[i] / root;
        sum[i] = W(beta) * m[i] + slope + W(decay) * p[i];
        sum_size[i] = std::abs(beta * m[i]) + std::abs(slope) + std::abs(decay * p[i]);
        descent[i] = p[i] - W(lr) * sum[i], descent_size[i] = std::abs(p[i]) + lr * sum_size[i];
      }
      CHECK(share_of_bound(got_m, mean, mean_size, 2) <= 1);
      CHECK(share_of_bound(got_v, square, square, 4) <= 1);
      CHECK(share_of_bound(got, want, size, 2) <= 1);
      CHECK(share_of_bound(buffer, sum, sum_size, 2) <= 1);
      CHECK(share_of_bound(sgd, descent, descent_size, 2) <= 1);
    }
  });
}

TEST_CASE_TEMPLATE("a gradient that is not a number reaches the parameter", T, float, double) {
  Stream stream(1);
  std::vector<T> p(20, 1), g(20, T(NAN)), m(20, 0), v(20, 0);
  kernel::adamw(AdamWOptions(), span_of<T, T, T, T>(stream, p.data(), g.data(),
                                                    {m.data(), v.data()}, none<T>, 20, {0.01}));
  for (T value : p) CHECK(std::isnan(value));
  std::vector<T> q(20, 1), r(20, 1);
  const Decision decision{.limit = 0.5};
  const SpanStep step{0.1, 1, &decision};
  kernel::sgd(SgdOptions(), span_of<T, T, T, T>(stream, q.data(), g.data(), {}, none<T>, 20, step));
  kernel::lion(LionOptions(),
               span_of<T, T, T, T>(stream, r.data(), g.data(), {m.data()}, none<T>, 20, step));
  for (T value : q) CHECK(std::isnan(value));
  for (T value : r) CHECK(std::isnan(value));
}

// ---- 100 steps of each elementwise optimizer against its formula in double precision

constexpr int steps = 100;
constexpr double scale = 0.7;

template <class P>
    struct IsElementwise : std::bool_constant < !requires {
  P::by_parameter;
}>{};
template <class... Policies>
PoliciesThat<IsElementwise, Policies...> elementwise_of(PolicyList<Policies...>);
using Elementwise =
    Joined<decltype(elementwise_of(shipped::optimizer())),
           PolicyList<AdamW<{.beta2 = 0.99}>, Adam<{.beta2 = 0.99}>, Sgd<{.momentum = 0.8}>,
                      Sgd<{.momentum = 0.8, .nesterov = true}>, Lion<{.beta2 = 0.97}>>>;

/// Compares the updates of n parameters by P, from a span with as much state as P has.
template <class P, class T>
void follow(std::int64_t n, bool decayed, double limit) {
  auto options = P::options;
  options.weight_decay = 0.1;
  const double rate = 0.01;
  const Decision decision{.scale = scale, .limit = limit};
  std::vector<std::vector<T>> gradients;
  for (int t = 1; t <= steps; ++t) gradients.push_back(normal_values<T>(n, 10 + t, 0.5));
  const auto start = normal_values<T>(n, 1);
  const auto p = same_on_all_threads([&](Stream& s) {
    std::vector<T> now = start;
    std::array<std::vector<T>, max_regions> state;
    for (int t = 1; t <= steps; ++t) {
      auto span = span_of<T, T, T, T>(s, now.data(), gradients[t - 1].data(), {}, none<T>, n,
                                      {rate, t, &decision, decayed});
      for (std::size_t r = 0; r < P::regions.size(); ++r) {
        state[r].resize(n);
        span.state[r] = {state[r].data(), n};
      }
      P::update(options, span);
    }
    return now;
  });
  std::vector<double> want;
  bool clamped = false;
  for (std::int64_t i = 0; i < n; ++i) {
    kernel::OneParameter one{double(start[i]), 0, rate, decayed ? 0.1 : 0, 1};
    for (int t = 1; t <= steps; ++t) {
      const double g = scale * double(gradients[t - 1][i]);
      clamped |= std::abs(g) > limit;
      one.gradient = std::clamp(g, -limit, limit);
      one.step = t;
      kernel::update_one(options, one);
    }
    want.push_back(one.value);
  }
  CHECK(clamped == std::isfinite(limit));
  CHECK(error_of(p, want) <= steps);  // each step's rounding
}

template <class T, class... Policies>
void follow_each(PolicyList<Policies...>) {
  for (std::int64_t n : {1, 17, 503})
    for (bool decayed : {true, false})
      for (double limit : {double(INFINITY), 0.3}) {
        CAPTURE(n);
        CAPTURE(decayed);
        CAPTURE(limit);
        (follow<Policies, T>(n, decayed, limit), ...);
      }
}

TEST_CASE_TEMPLATE("each elementwise optimizer follows its formula", T, float, double) {
  on_every_instruction_set([] { follow_each<T>(Elementwise()); });
}

/// Follows `paper` beside the formula that stands beside a kernel, both in double.
///   paper   paper(t, p, g, a, b) updates a parameter p and two states by a gradient, in step t from 1
template <class Options>
void check_formula(const Options& options, double rate, double decay, auto paper) {
  kernel::OneParameter one{0.3, 0, rate, decay, 1};
  double p = one.value, a = 0, b = 0;
  const std::vector<double> gradients = normal_values<double>(steps, 5, 0.5);
  for (int t = 1; t <= steps; ++t) {
    one.gradient = gradients[t - 1];
    one.step = t;
    kernel::update_one(options, one);
    paper(t, p, gradients[t - 1], a, b);
    CHECK(std::abs(one.value - p) <= 1e-13);
  }
}

TEST_CASE("the formula beside each kernel is that of its paper") {
  for (const bool coupled : {false, true}) {
    CAPTURE(coupled);
    const auto adam = [=](int t, double& p, double g, double& m, double& v) {
      if (coupled) {
        g += 0.1 * p;
      } else {
        p -= 0.01 * 0.1 * p;
      }
      m = 0.9 * m + 0.1 * g;
      v = 0.99 * v + 0.01 * g * g;
      p -= 0.01 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.99, t))) + 1e-8);
    };
    if (coupled) {
      check_formula(AdamOptions{.beta2 = 0.99}, 0.01, 0.1, adam);
    } else {
      check_formula(AdamWOptions{.beta2 = 0.99}, 0.01, 0.1, adam);
    }
  }
  for (const bool nesterov : {false, true}) {
    CAPTURE(nesterov);
    check_formula(SgdOptions{.momentum = 0.8, .nesterov = nesterov}, 0.02, 0.1,
                  [=](int, double& p, double g, double& b, double&) {
                    g += 0.1 * p;
                    b = 0.8 * b + g;
                    p -= 0.02 * (nesterov ? g + 0.8 * b : b);
                  });
  }
  check_formula(LionOptions{.beta2 = 0.97}, 0.01, 0.1,
                [](int, double& p, double g, double& m, double&) {
                  const double u = 0.9 * m + 0.1 * g;
                  p = (1 - 0.01 * 0.1) * p - 0.01 * double((u > 0) - (u < 0));
                  m = 0.97 * m + 0.03 * g;
                });
}

TEST_CASE_TEMPLATE("Lion does not move where the average is zero", T, float, double) {
  on_every_instruction_set([] {
    Stream stream(1);
    std::vector<T> p(19, 2), g(19, 0), m(19, 0);
    kernel::lion(LionOptions(),
                 span_of<T, T, T, T>(stream, p.data(), g.data(), {m.data()}, none<T>, 19, {0.1}));
    for (T value : p) CHECK(value == 2);
  });
}

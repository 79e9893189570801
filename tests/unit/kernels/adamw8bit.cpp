// SPDX-License-Identifier: Apache-2.0
#include "sinter/kernels/adamw8bit.hpp"

#include <bit>

#include "support/spans.hpp"
#include "unit/kernels/support.hpp"

namespace kernel = sinter::kernel;
using namespace sinter::detail::testing;
using kernel::Stream;
using sinter::AdamWOptions, sinter::BFloat16;

namespace {

constexpr int block = kernel::adamw8bit_block;

constexpr kernel::Decision scaled{.scale = 0.7};

/// One step of AdamW.
struct Step {
  AdamWOptions options;
  SpanStep span;
};
Step step_of(int t) { return {{.weight_decay = 0.1}, {0.01, t, &scaled}}; }

/// Parameters with 8-bit moments.
struct State {
  std::vector<float> p, mean_scale, square_scale;
  std::vector<std::uint8_t> mean, square;
  std::vector<BFloat16> copy;

  explicit State(std::vector<float> start)
      : p(std::move(start)),
        mean_scale(kernel::adamw8bit_scales(std::int64_t(p.size()))),
        square_scale(mean_scale),
        mean(p.size()),
        square(p.size()),
        copy(p.size()) {}

  void step(Stream& s, const std::vector<float>& g, const Step& step) {
    kernel::adamw8bit(step.options,
                      span_of<float, float, float, BFloat16>(s, p.data(), g.data(), {}, copy.data(),
                                                             std::int64_t(p.size()), step.span),
                      {mean.data(), square.data(), mean_scale.data(), square_scale.data()});
  }
  double m(std::size_t i) const {
    return double(kernel::signed_dynamic_map()[mean[i]]) * mean_scale[i / block];
  }
  double v(std::size_t i) const {
    return double(kernel::unsigned_dynamic_map()[square[i]]) * square_scale[i / block];
  }
};

std::uint64_t hash_of(const std::array<float, 256>& map) {
  std::uint64_t hash = 0;
  for (float number : map) hash = hash * 1099511628211u + std::bit_cast<std::uint32_t>(number);
  return hash;
}

/// How far x is from the nearest of the map's numbers.
double distance(const std::array<float, 256>& map, double x) {
  double least = INFINITY;
  for (float number : map) least = std::min(least, std::abs(number - x));
  return least;
}

/// One step from `before` to `after` against the definition, in double. Returns the share of the
/// header's bounds that was used.
double share_of_bounds(const State& before, const State& after, const std::vector<float>& g,
                       const Step& s) {
  const auto& [lr, beta1, beta2, least, weight_decay] = s.options;
  const double eps = epsilon<float>(), t = double(s.span.number);
  const double root = std::sqrt(1 - std::pow(beta2, t)), correction1 = 1 - std::pow(beta1, t);
  double worst = 0;
  auto within = [&](double error, double bound) {
    worst = std::max(worst, error == 0 ? 0 : std::isfinite(error) ? error / bound : INFINITY);
  };
  for (std::size_t first = 0; first < g.size(); first += block) {
    const std::size_t last = std::min(first + block, g.size());
    double max_m = 0, max_v = 0, most = 0;
    std::vector<double> ms, vs;
    for (std::size_t i = first; i < last; ++i) {
      const double slope = (s.span.decision ? s.span.decision->scale : 1) * g[i];
      const double v = beta2 * before.v(i) + (1 - beta2) * slope * slope;
      const double m = beta1 * before.m(i) + (1 - beta1) * slope;
      const double size = std::abs(before.m(i)) + std::abs(slope);
      const double below = std::sqrt(v) + root * least,
                   rate = s.span.learning_rate * root / correction1;
      const double p = (before.p[i] - rate * m / below) * (1 - s.span.learning_rate * weight_decay);
      within(std::abs(after.p[i] - p), eps * (2 * std::abs(before.p[i]) + 4 * rate * size / below));
      max_m = std::max(max_m, std::abs(m)), max_v = std::max(max_v, v);
      most = std::max(most, size), ms.push_back(m), vs.push_back(v);
    }
    const float mean_scale = after.mean_scale[first / block];
    const float square_scale = after.square_scale[first / block];
    within(std::abs(mean_scale - max_m), 4 * eps * most);
    within(std::abs(square_scale - max_v), 4 * eps * max_v);
    for (std::size_t i = first; i < last && mean_scale > 0; ++i) {
      const auto& signs = kernel::signed_dynamic_map();
      const double m = ms[i - first] / mean_scale, v = vs[i - first] / square_scale;
      const bool kept_sign = m < 0 && after.mean[i] == 126;  // where zero may be nearer
      const double error = std::abs(signs[after.mean[i]] - m) - distance(signs, m);
      within(kept_sign ? 0 : error, 8 * eps * most / mean_scale);
      const auto& squares = kernel::unsigned_dynamic_map();
      within(std::abs(squares[after.square[i]] - v) - distance(squares, v), 8 * eps);
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("the maps are bitsandbytes' dynamic maps") {
  const auto& both = kernel::signed_dynamic_map();
  const auto& upper = kernel::unsigned_dynamic_map();
  CHECK(std::is_sorted(both.begin(), both.end(), std::less_equal<float>()));
  CHECK(std::is_sorted(upper.begin(), upper.end(), std::less_equal<float>()));
  CHECK(both[127] == 0);
  CHECK(both[128] == doctest::Approx(5.5e-7).epsilon(1e-6));
  CHECK(both[129] == doctest::Approx(3.25e-6).epsilon(1e-6));
  CHECK(both[254] == doctest::Approx(1 - 0.9 / 128).epsilon(1e-6));
  CHECK(both[255] == 1);
  for (int i = 0; i < 127; ++i) CHECK(both[i] == -both[254 - i]);
  CHECK(upper[0] == 0);
  CHECK(upper[1] == doctest::Approx(3.25e-7).epsilon(1e-6));
  CHECK(upper[254] == doctest::Approx(1 - 0.9 / 256).epsilon(1e-6));
  CHECK(upper[255] == 1);
  CHECK(hash_of(both) == 0x7cd6b0b0f1963dcc);  // bitsandbytes 0.50.2, with PyTorch 2.11
  CHECK(hash_of(upper) == 0x39af803fb9505dec);
}

TEST_CASE("each step of 8-bit AdamW follows its definition") {
  on_every_instruction_set([] {
    for (std::int64_t n : {0, 1, 3, 17, 255, 256, 257, 1000, 40001}) {
      CAPTURE(n);
      State state(normal_values<float>(n, 1));
      double worst = 0;
      for (int t = 1; t <= 6; ++t) {
        auto g = normal_values<float>(n, 10 + t, 0.01);
        for (std::int64_t i = 0; i < n; ++i) g[i] *= float(std::pow(10., -double(i % 9)));
        if (t == 3) std::fill(g.begin(), g.begin() + std::min<std::int64_t>(n, 300), 0.f);
        const State before = state;
        auto bytes_and_numbers = [&](Stream& s) {
          state = before;
          state.step(s, g, step_of(t));
          std::vector<double> all(state.p.begin(), state.p.end());
          for (std::int64_t i = 0; i < n; ++i) all.push_back(state.m(i)), all.push_back(state.v(i));
          return all;
        };
        same_on_all_threads(bytes_and_numbers);
        worst = std::max(worst, share_of_bounds(before, state, g, step_of(t)));
        for (std::int64_t i = 0; i < n; ++i)
          REQUIRE(state.copy[i].bits == BFloat16(state.p[i]).bits);
      }
      CHECK(worst <= 1);
      if (n > 100) CHECK(worst > 0.05);  // the bounds are near
    }
  });
}

TEST_CASE("moments of every size are rounded to the nearest number") {
  on_every_instruction_set([] {
    Stream stream(1);
    const int n = 128 * block;
    std::vector<float> g(n);
    for (int i = 0; i < n; ++i) {  // magnitudes of 9 decades, both signs; the first is the scale
      g[i] = float(std::pow(10., -9. * i / n)) * (i % 3 ? 1 : -1);
      if (i % block == 0) g[i] = 1;
    }
    State state(std::vector<float>(n, 1)), before = state;
    const Step step{{.beta1 = 0, .beta2 = 0, .weight_decay = 0}, {0.01}};  // m = g, v = g²
    state.step(stream, g, step);
    CHECK(share_of_bounds(before, state, g, step) <= 1);
    for (int i = 0; i < n; ++i) REQUIRE((state.m(i) < 0) == (g[i] < 0));
  });
}

TEST_CASE("8-bit AdamW stays near AdamW on a quadratic") {
  on_every_instruction_set([] {
    Stream stream(2);
    const int n = 3000;
    const auto start = normal_values<float>(n, 1), goal = normal_values<float>(n, 2);
    State small(start);
    auto p = start;
    std::vector<float> m(n), v(n), g(n);
    for (int t = 1; t <= 100; ++t) {
      const Step step{{.weight_decay = 0}, {0.02, t}};
      for (int i = 0; i < n; ++i) g[i] = small.p[i] - goal[i];
      small.step(stream, g, step);
      for (int i = 0; i < n; ++i) g[i] = p[i] - goal[i];
      kernel::adamw(step.options,
                    span_of<float, float, float, float>(
                        stream, p.data(), g.data(), {m.data(), v.data()}, nullptr, n, step.span));
    }
    double apart = 0, moved = 0;
    for (int i = 0; i < n; ++i) {
      apart += (small.p[i] - p[i]) * (small.p[i] - p[i]);
      moved += (start[i] - p[i]) * (start[i] - p[i]);
    }
    CHECK(std::sqrt(apart / moved) < 0.05);
    CHECK(apart > 0);
  });
}

TEST_CASE("a gradient that is not a number reaches the parameter, and no other block") {
  on_every_instruction_set([] {
    Stream stream(1);
    State state(std::vector<float>(600, 1.f));
    std::vector<float> g(600, .5f);
    g[20] = NAN, g[30] = INFINITY;
    state.step(stream, g, step_of(1));
    CHECK(std::isnan(state.p[20]));
    CHECK(std::isnan(state.p[30]));
    for (int i = block; i < 600; ++i) CHECK(std::isfinite(state.p[i]));
    for (int i = block; i < 600; ++i) CHECK(std::isfinite(state.m(i)));
  });
}

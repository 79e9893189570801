// SPDX-License-Identifier: Apache-2.0
// The gradient checker finds what is wrong with a layer, and says where.
#include "sinter/trainer/check_gradients.hpp"

#include "sinter/error.hpp"
#include "sinter/graph/tracer.hpp"
#include "sinter/layer/linear.hpp"
#include "sinter/layer/loss.hpp"
#include "sinter/model/mlp.hpp"
#include "sinter/precision/fp64.hpp"
#include "support/recipes.hpp"
#include "support/trainers.hpp"

namespace sinter::detail::testing::check_gradients_tests {

enum class Mistake { none, factor, forgets_element, forgets_dx, blind };

/// y = gain x³, each column with its gain; with a mistake in backward.
template <Mistake mistake>
struct Cube {
  static constexpr int width = 3;
  static constexpr std::array in{width};
  static constexpr std::array out{width};
  template <class T>
  struct Params {
    T gain;
  };
  static constexpr Params<Param> params{Param::vector("gain", width, Init::ones)};
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input()};
  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    for (int r = 0; r < x.rows; ++r)
      for (int i = 0; i < width; ++i)
        y.put(r, i,
              mistake == Mistake::blind ? 0 * x(r, i)
                                        : c.weights.gain(0, i) * x(r, i) * x(r, i) * x(r, i));
  }
  static void backward(auto& c) {
    auto x = c.saved.x, dy = c.dy(), dx = c.dx();
    for (int i = 0; i < width; ++i) {
      auto sum = c.zero();
      for (int r = 0; r < x.rows; ++r) {
        sum += mistake == Mistake::blind ? 0 : dy(r, i) * x(r, i) * x(r, i) * x(r, i);
        if (mistake == Mistake::forgets_dx) continue;
        const double factor = mistake == Mistake::factor ? 2 : 3;
        dx.put(r, i,
               mistake == Mistake::blind
                   ? 0 * x(r, i)
                   : factor * c.weights.gain(0, i) * x(r, i) * x(r, i) * dy(r, i));
      }
      if (mistake != Mistake::forgets_element || i != 1) c.gradients.gain.put(0, i, sum);
    }
  }
};
template <Mistake mistake>
struct Model {
  using slot = slot::model;
  struct Body {
    static constexpr Value<3> trace(auto& g, Value<2> x) {
      return g("cube", Cube<mistake>{}, g("fc", Linear<2, 3>{}, x));
    }
  };
  struct Loss {
    static constexpr Value<1> trace(auto& g, Value<3> x, Value<1> target) {
      return g("loss", MeanSquaredError<1>{}, g("", Linear<3, 1>{}, x), target);
    }
  };
  static constexpr void trace(auto& g) {
    auto x = g.unit("body", Body{}, g.template values<2>());
    g.result(g.unit("out", Loss{}, x, g.template target_values<1>()));
  }
};

template <Mistake mistake>
GradientReport report() {
  HostBatch batch;
  batch.values = {{1, .5, -1, 2, .3, -.7, -2, .1}, {1, 2, -1, .5}};
  batch.starts = {0, 1, 2, 3, 4};
  return check_gradients<Made<Model<mistake>, Fp64, Batch<{.global = 4, .micro = 2}>>>(batch);
}
const GradientCheck& of(const GradientReport& report, std::string_view name) {
  for (const GradientCheck& p : report.parameters)
    if (p.parameter == name) return p;
  FAIL("no parameter " << name);
  throw 0;
}

TEST_CASE("right gradients pass, parameter by parameter") {
  const GradientReport good = report<Mistake::none>();
  CAPTURE(good.text());
  CHECK(good.passed());
  CHECK(good.parameters.size() == 5);
  CHECK(good.text().find("body.cube.gain: right\n") != std::string::npos);
}

TEST_CASE("a wrong factor in dx shows in the parameters before the layer, and only there") {
  const GradientReport bad = report<Mistake::factor>();
  CHECK(!bad.passed());
  CHECK(!of(bad, "body.fc.weight").right());
  CHECK(of(bad, "body.cube.gain").right());
  const GradientCheck& weight = of(bad, "body.fc.weight");
  CHECK(weight.gradient == doctest::Approx(weight.slope * 2 / 3).epsilon(1e-6));
  CHECK(bad.text().find("but the loss has the slope") != std::string::npos);
}

TEST_CASE("a gradient that is never put is not finite, which is an error and no report") {
  CHECK_THROWS_WITH_AS((void)report<Mistake::forgets_element>(),
                       doctest::Contains("forgets to put a gradient"), Error);
  CHECK_THROWS_WITH_AS((void)report<Mistake::forgets_dx>(),
                       doctest::Contains("the loss or a gradient is not finite"), Error);
}

TEST_CASE("if no slope stands out, nothing was checked, and the check does not pass") {
  const GradientReport blind = report<Mistake::blind>();
  CHECK(!blind.passed());
  CHECK(of(blind, "body.fc.weight").right());
  CHECK(!of(blind, "body.fc.weight").checked());
  CHECK(blind.text().find("body.fc.weight: not checked") != std::string::npos);
}

TEST_CASE("a recipe that computes in less than double precision is refused") {
  HostBatch batch;
  CHECK_THROWS_WITH_AS((void)check_gradients(Trainer<Made<Mlp<>>>::options(), batch),
                       doctest::Contains("Add Fp64"), ArgumentError);
}

}  // namespace sinter::detail::testing::check_gradients_tests

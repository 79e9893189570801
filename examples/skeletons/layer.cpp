// SPDX-License-Identifier: Apache-2.0
// A layer to copy. docs/add_a_layer.md explains each member. This file compiles, runs and checks
// its own gradients.
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

/// y[r][i] = gain[i] x[r][i].   x, y: rows × W, gain: W.
/// (A layer's comment is its contract: the formula, the shapes, the paper that it follows.)
template <int W>
struct Gain {
  // The widths of operands and results; 0 is an operand of integer ids. A value of another width
  // does not compile where it is connected.
  static constexpr std::array in{W};
  static constexpr std::array out{W};

  // Parameters (optional): an aggregate template over its fields' type, and for each field its name
  // and shape in files and its initial values. Param::matrix has weight decay, Param::vector has none.
  template <class T>
  struct Params {
    T gain;
  };
  static constexpr Params<Param> params{Param::vector("gain", W, Init::ones)};

  // What backward reads besides gradients and weights. Keep::input() and output() only keep existing
  // values alive; own(width) and statistic(width) are numbers that forward writes for backward.
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input()};

  // Facts. cheap: Checkpoint<{.policy = selective}> recomputes the layer instead of keeping its
  // result. A layer with matrix products defines flops(context), for one row. A layer that needs
  // memory during a call defines scratch(rows).
  static constexpr bool cheap = true;

  // c: see Context in sinter/layer/context.hpp. put() assigns or adds, as the plan has decided.
  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    auto gain = c.weights.gain;
    for (int r = 0; r < x.rows; ++r)
      for (int i = 0; i < W; ++i) y.put(r, i, gain(0, i) * x(r, i));
  }

  // dy is given. dx and each gradient of a parameter are empty if they are not needed: data need no
  // gradient, and a frozen unit has none. A gradient is first summed in the type for sums, then put
  // once.
  static void backward(auto& c) {
    auto x = c.saved.x, dy = c.dy(), dx = c.dx();
    auto gain = c.weights.gain, dgain = c.gradients.gain;
    if (dx)
      for (int r = 0; r < x.rows; ++r)
        for (int i = 0; i < W; ++i) dx.put(r, i, gain(0, i) * dy(r, i));
    if (!dgain) return;
    for (int i = 0; i < W; ++i) {
      auto sum = c.zero();
      for (int r = 0; r < x.rows; ++r) sum += dy(r, i) * x(r, i);
      dgain.put(0, i, sum);
    }
  }
};

// A unit is a function of values, made of layers. Each layer's name is the prefix of its
// parameters' names; it may be empty if the unit has only one layer.
template <int In, int Out>
struct Scaled {
  static constexpr Value<Out> trace(auto& g, Value<In> x) {
    return g("", Gain<Out>{}, g("linear", Linear<In, Out>{}, x));
  }
};
struct Loss {
  template <int W>
  static constexpr Value<1> trace(auto& g, Value<W> x, Value<1> target) {
    return g("loss", MeanSquaredError<1>{}, g("", Linear<W, 1>{}, x), target);
  }
};

// The smallest model with this layer: numbers, one unit, a loss.
struct Around {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto h = g.unit("scaled", Scaled<2, 4>{}, g.template values<2>());
    g.result(g.unit("output", Loss{}, h, g.template target_values<1>()));
  }
};

}  // namespace acme

// Fp64 runs the same code in double precision, exact enough for finite differences.
struct checked
    : sinter::Recipe<acme::Around, sinter::Fp64, sinter::Batch<{.global = 8, .micro = 4}>> {};

int main() {
  sinter::HostBatch batch;
  batch.values.resize(2);
  for (int row = 0; row < 8; ++row) {
    batch.values[0].insert(batch.values[0].end(), {std::sin(float(row)), std::cos(float(row))});
    batch.values[1].push_back(float(row % 3));
    batch.starts.push_back(row + 1);
  }
  const sinter::GradientReport report = sinter::check_gradients<checked>(batch);
  std::printf("%s", report.text().c_str());
  return report.passed() ? 0 : 1;
}

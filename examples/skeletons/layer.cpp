// SPDX-License-Identifier: Apache-2.0
// A layer to copy. docs/add_a_layer.md explains each member; what is here compiles, runs and checks
// its own gradients.
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

/// y[r][i] = gain[i] x[r][i].   x, y: rows × W, gain: W.
/// (The comment on a layer is its contract: the formula, the shapes, the paper that it comes from.)
template <int W>
struct Gain {
  // The widths of operands and results. A value of another width does not compile where it is
  // joined. 0 is an operand of integer ids.
  static constexpr std::array in{W};
  static constexpr std::array out{W};

  // Parameters, if there are any: an aggregate that is a template of its fields' type, and for each
  // field the name and shape that it has in files, and how it starts. A vector() is not decayed, a
  // matrix() is.
  template <class T>
  struct Params {
    T gain;
  };
  static constexpr Params<Param> params{vector("gain", W, ones)};

  // What backward reads beside gradients and weights. input() and output() only keep alive what is
  // there anyway; own(width) and statistic(width) are numbers that forward writes for backward.
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<Keep, Keep> saved{input()};

  // Facts. cheap: Checkpoint<{.policy = selective}> computes it again rather than keep its result.
  // A layer of matrix products says flops(context) of one row; one that needs room during a call
  // says scratch(rows).
  static constexpr bool cheap = true;

  // c: see Context in sinter/layer/context.hpp. put() assigns or adds, as the plan has decided.
  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    auto gain = c.weights.gain;
    for (int r = 0; r < x.rows; ++r)
      for (int i = 0; i < W; ++i) y.put(r, i, gain(0, i) * x(r, i));
  }

  // dy is given; dx and each gradient of a parameter are wanted, unless they are empty: nobody
  // wants the gradient of data, and a frozen unit has no gradients. A gradient is summed first, in
  // the type for sums, and put once.
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

// A unit is a function of values, made of layers. Each layer has a name, which begins the names of
// its parameters; it may be empty where the unit has only one.
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

// The smallest model around it: numbers, a unit with the layer, a loss.
struct Around {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto h = g.unit("scaled", Scaled<2, 4>{}, g.template values<2>());
    g.result(g.unit("output", Loss{}, h, g.template target_values<1>()));
  }
};

}  // namespace acme

// Fp64 is the same code in double precision, exact enough for finite differences.
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

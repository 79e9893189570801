// SPDX-License-Identifier: Apache-2.0
// A layer that is a loss, to copy. docs/add_a_loss.md explains what differs from other layers. This
// file compiles, runs and checks its own gradients.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

/// y[r] = weight[r] Σ_c h(x[r][c] - target[r][c]), where h(d) is d² / 2 up to |d| = 1, and |d| - 1/2
/// beyond (Huber 1964).   x, target: rows × W, weight, y: rows × 1.
template <int W>
struct WeightedHuber {
  // The second operand is the target: as wide as x, or 0 if it is one id for each row. More operands
  // may follow.
  static constexpr std::array in{W, W, 1};
  static constexpr std::array out{1};
  static constexpr bool loss = true;
  template <class T, class Statistic>
  struct Saved {
    T x, target, weight;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input(0), Keep::input(1), Keep::input(2)};

  // Evaluations call this.
  static void forward(auto& c) {
    auto x = c.x(0), target = c.x(1), weight = c.x(2);
    auto y = c.y();
    for (int r = 0; r < x.rows; ++r) y.put(r, 0, double(weight(r, 0)) * sum_of_row(x, target, r));
  }

  // Training calls only this: it writes losses and gradients. Gradients have the factor
  // loss_weight(), losses do not. dx(i) is empty where operand i is data; put() then does nothing.
  static void backward(auto& c) {
    auto x = c.saved.x, target = c.saved.target, weight = c.saved.weight;
    auto y = c.y();
    auto dx = c.dx(0), dtarget = c.dx(1), dweight = c.dx(2);
    for (int r = 0; r < x.rows; ++r) {
      const double sum = sum_of_row(x, target, r), factor = double(weight(r, 0));
      y.put(r, 0, factor * sum);
      for (int i = 0; i < W; ++i) {
        const double slope = std::clamp(difference(x, target, r, i), -1.0, 1.0);
        dx.put(r, i, c.loss_weight() * factor * slope);
        dtarget.put(r, i, -c.loss_weight() * factor * slope);
      }
      dweight.put(r, 0, c.loss_weight() * sum);
    }
  }

 private:
  static double difference(auto x, auto target, int r, int i) {
    return double(x(r, i)) - double(target(r, i));
  }
  static double sum_of_row(auto x, auto target, int r) {
    double sum = 0;
    for (int i = 0; i < W; ++i) {
      const double d = std::abs(difference(x, target, r, i));
      sum += d < 1 ? d * d / 2 : d - 0.5;
    }
    return sum;
  }
};

template <int In>
struct Head {
  static constexpr Value<1> trace(auto& g, Value<In> x, Value<2> target, Value<1> weight) {
    return g("loss", WeightedHuber<2>{}, g("", Linear<In, 2>{}, x), target, weight);
  }
};

// A batch has the inputs in values[0], the targets in values[1] and the weight of each row in
// values[2]. Only target_values() are counted as predictions.
struct Robust {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<3>();
    auto target = g.template target_values<2>();
    auto weight = g.template values<1>();
    g.result(g.unit("head", Head<3>{}, x, target, weight));
  }
};

// Data need no gradient, so Robust checks only dx. Here the target and the weight are computed, too.
struct Computed {
  static constexpr Value<1> trace(auto& g, Value<3> x, Value<2> target, Value<1> weight) {
    return g("loss", WeightedHuber<2>{}, g("x", Linear<3, 2>{}, x),
             g("target", Linear<2, 2>{}, target), g("weight", Linear<1, 1>{}, weight));
  }
};
struct AllComputed {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<3>();
    auto target = g.template target_values<2>();
    auto weight = g.template values<1>();
    g.result(g.unit("all", Computed{}, x, target, weight));
  }
};

}  // namespace acme

// Fp64 runs the same code in double precision, exact enough for finite differences.
struct checked
    : sinter::Recipe<acme::Robust, sinter::Fp64, sinter::Batch<{.global = 8, .micro = 4}>> {};
struct all_checked
    : sinter::Recipe<acme::AllComputed, sinter::Fp64, sinter::Batch<{.global = 8, .micro = 4}>> {};

int main() {
  sinter::HostBatch batch;
  batch.values.resize(3);
  for (int row = 0; row < 8; ++row) {
    const float angle = float(row);
    batch.values[0].insert(batch.values[0].end(), {std::sin(angle), std::cos(angle), 1});
    batch.values[1].insert(batch.values[1].end(), {float(row % 3), -3 * std::sin(angle)});
    batch.values[2].push_back(row % 2 == 0 ? 1.0f : 0.25f);
    batch.starts.push_back(row + 1);
  }
  const sinter::GradientReport report = sinter::check_gradients<checked>(batch);
  const sinter::GradientReport all = sinter::check_gradients<all_checked>(batch);
  std::printf("%s%s", report.text().c_str(), all.text().c_str());
  // Only evaluations call forward(). The loss of a step is that of the weights before it.
  sinter::Trainer<checked> trainer;
  const double evaluated = trainer.evaluate(batch).mean();
  const sinter::Outcome outcome = trainer.step(batch);
  const auto* applied = std::get_if<sinter::Applied>(&outcome);
  const bool same = applied && std::abs(applied->loss.mean() - evaluated) < 1e-12;
  std::printf("forward and backward: %s\n", same ? "the same loss" : "different losses");
  return report.passed() && all.passed() && same ? 0 : 1;
}

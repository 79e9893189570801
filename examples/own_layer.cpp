// SPDX-License-Identifier: Apache-2.0
// A layer and a model of your own, in your own namespace.
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

/// y = x / (1 + exp(-x)) (Ramachandran et al. 2017).   x, y: rows × W.
template <int W>
struct Swish {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool cheap = true;  // Checkpoint<{.policy = selective}> may recompute it
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input()};  // backward reads the operand

  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    for (int r = 0; r < x.rows; ++r)
      for (int i = 0; i < W; ++i) y.put(r, i, x(r, i) * sigmoid(x(r, i)));
  }
  static void backward(auto& c) {
    auto x = c.saved.x, dy = c.dy(), dx = c.dx();
    if (!dx) return;  // not needed: nothing before this layer is trained
    for (int r = 0; r < x.rows; ++r)
      for (int i = 0; i < W; ++i) {
        auto s = sigmoid(x(r, i));
        dx.put(r, i, dy(r, i) * (s + x(r, i) * s * (1 - s)));
      }
  }

 private:
  static auto sigmoid(auto v) { return 1 / (1 + std::exp(-v)); }
};

template <int In, int Out>
struct Hidden {
  static constexpr Value<Out> trace(auto& g, Value<In> x) {
    return g("act", Swish<Out>{}, g("", Linear<In, Out>{}, x));
  }
};
template <int In>
struct Loss {
  static constexpr Value<1> trace(auto& g, Value<In> x, Value<1> target) {
    return g("loss", MeanSquaredError<1>{}, g("", Linear<In, 1>{}, x), target);
  }
};

struct Smooth {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<1>();
    auto target = g.template target_values<1>();
    auto h = g.unit("input", Hidden<1, 32>{}, x);
    h = g.repeat(3, "hidden", Hidden<32, 32>{}, h);
    g.result(g.unit("output", Loss<32>{}, h, target));
  }
};

}  // namespace acme

struct smooth : sinter::Recipe<acme::Smooth, sinter::AdamW<{.lr = 1e-2}>,
                               sinter::Batch<{.global = 32, .micro = 32}>> {};

int main() {
  std::vector<float> x, y;
  for (int i = 0; i < 32; ++i) {
    x.push_back(float(i) / 16 - 1);
    y.push_back(x.back() * x.back());
  }
  sinter::ArrayData data(x, 1, y, 1, {.sequences = 32});
  sinter::Trainer<smooth> trainer;
  sinter::HostBatch batch;
  double loss = 1;
  for (int step = 0; step < 300; ++step) {
    data.next(batch);
    loss = std::get<sinter::Applied>(trainer.step(batch)).loss.mean();
  }
  std::printf("loss %.6f\n", loss);
  return loss < 0.01 ? 0 : 1;
}

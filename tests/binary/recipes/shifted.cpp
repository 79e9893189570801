// SPDX-License-Identifier: Apache-2.0
// A tiny model of bytes with a layer that mixes rows and does not say how it continues a text.
#include <sinter/sinter.hpp>
using namespace sinter;

constexpr int width = 8, bytes = 256;

/// y[r] = x[r] + x[r - 1], with nothing before the first row of a sequence.
struct Shift {
  static constexpr std::array in{width};
  static constexpr std::array out{width};
  static constexpr bool causal = true;

  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    for (int s = 0; s < c.sequences().count; ++s)
      for (int r = c.sequences().starts[s]; r < c.sequences().starts[s + 1]; ++r)
        for (int i = 0; i < width; ++i)
          y.put(r, i, r > c.sequences().starts[s] ? x(r, i) + x(r - 1, i) : x(r, i));
  }
  static void backward(auto& c) {
    auto dx = c.dx(), dy = c.dy();
    for (int s = 0; s < c.sequences().count; ++s)
      for (int r = c.sequences().starts[s]; r < c.sequences().starts[s + 1]; ++r)
        for (int i = 0; i < width; ++i)
          dx.put(r, i, r + 1 < c.sequences().starts[s + 1] ? dy(r, i) + dy(r + 1, i) : dy(r, i));
  }
};

struct Embed {
  static constexpr Value<width> trace(auto& g, Ids tokens) {
    return g("shift", Shift{}, g("wte", Embedding<bytes, width>{}, tokens));
  }
};
struct Learn {
  static constexpr Value<1> trace(auto& g, Value<width> x, Ids targets) {
    return g("loss", CrossEntropy<bytes>{}, g("head", Linear<width, bytes>{}, x), targets);
  }
};
struct Follow {
  static constexpr Value<bytes> trace(auto& g, Value<width> x) {
    return g("head", Linear<width, bytes>{}, g("last", LastRow<width>{}, x));
  }
};
struct Shifted {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("embed", Embed{}, g.tokens());
    g.result(g.unit("head", Learn{}, x, g.targets()));
  }
  static constexpr void predict(auto& g) {
    g.result(g.unit("head", Follow{}, g.unit("embed", Embed{}, g.tokens())));
  }
};

struct shifted : Recipe<Shifted, Bytes<{.context = 8}>, Sgd<>, Batch<{.global = 4, .micro = 2}>,
                        Generation<{.rows = 3}>, Sample<{.tokens = 6, .top_k = 50}>> {};

int main(int argc, char** argv) { return run<shifted>(argc, argv); }

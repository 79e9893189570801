// SPDX-License-Identifier: Apache-2.0
// A layer that uses all threads of the step, and its speedup.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>
#include <thread>

namespace acme {
using namespace sinter;

/// y = x / (1 + exp(-x)).   x, y: rows × W.
/// One thread calls a layer; the others wait in c.stream(). parallel(parts, body) calls body(part)
/// for each part on all threads, and returns when all are done. A part should take some
/// microseconds. Its work must not depend on the number of threads; then the bits do not, either.
/// Parallel = false is the plain loop, for comparison.
template <int W, bool Parallel>
struct Swish {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool cheap = true;
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input()};

  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    each_row(c, [=](int r) {
      for (int i = 0; i < W; ++i) y.put(r, i, x(r, i) * sigmoid(x(r, i)));
    });
  }
  static void backward(auto& c) {
    auto x = c.saved.x, dy = c.dy(), dx = c.dx();
    if (!dx) return;
    each_row(c, [=](int r) {
      for (int i = 0; i < W; ++i) {
        auto s = sigmoid(x(r, i));
        dx.put(r, i, dy(r, i) * (s + x(r, i) * s * (1 - s)));
      }
    });
  }

 private:
  static void each_row(auto& c, auto row) {
    constexpr int at_once = 16;  // rows of a part, each written by one thread
    const int rows = c.rows();
    auto part = [=](int p) {
      for (int r = p * at_once; r < std::min(rows, (p + 1) * at_once); ++r) row(r);
    };
    const int parts = (rows + at_once - 1) / at_once;
    if constexpr (Parallel) {
      c.stream().parallel(parts, part);
    } else {
      for (int p = 0; p < parts; ++p) part(p);
    }
  }
  static auto sigmoid(auto v) { return 1 / (1 + std::exp(-v)); }
};

template <bool Parallel>
struct Model {
  using slot = sinter::slot::model;
  static constexpr int width = 512;
  struct Hidden {
    static constexpr Value<width> trace(auto& g, Value<1> x) {
      auto h = g("", Linear<1, width>{}, x);
      for (const char* name : {"a", "b", "c", "d"}) h = g(name, Swish<width, Parallel>{}, h);
      return h;
    }
  };
  struct Loss {
    static constexpr Value<1> trace(auto& g, Value<width> x, Value<1> target) {
      return g("loss", MeanSquaredError<1>{}, g("", Linear<width, 1>{}, x), target);
    }
  };
  static constexpr void trace(auto& g) {
    auto x = g.unit("hidden", Hidden{}, g.template values<1>());
    g.result(g.unit("output", Loss{}, x, g.template target_values<1>()));
  }
};

}  // namespace acme

template <bool Parallel>
struct swishes : sinter::Recipe<acme::Model<Parallel>, sinter::Fp32,
                                sinter::Batch<{.global = 1024, .micro = 1024}>> {};

template <bool Parallel>
double milliseconds_of_step(int threads, double& loss) {
  sinter::HostBatch batch;
  batch.values.resize(2);
  for (int row = 0; row < 1024; ++row) {
    batch.values[0].push_back(float(row) / 1024);
    batch.values[1].push_back(std::sin(float(row) / 32));
    batch.starts.push_back(row + 1);
  }
  sinter::Trainer<swishes<Parallel>> trainer({.threads = threads});
  double best = 1e9;
  for (int step = 0; step < 20; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    loss = std::get<sinter::Applied>(trainer.step(batch)).loss.mean();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    best = std::min(best, time.count());
  }
  return best;
}

int main() {
  const int threads = std::max(2, int(std::thread::hardware_concurrency()));
  double plain = 0, shared = 0;
  const double alone = milliseconds_of_step<false>(threads, plain),
               together = milliseconds_of_step<true>(threads, shared);
  std::printf("a step on %d threads takes %.2f ms with a plain loop, %.2f ms with parallel()\n",
              threads, alone, together);
  return plain == shared ? 0 : 1;  // the same bits
}

// SPDX-License-Identifier: Apache-2.0
// A layer that mixes the rows of a text, and how a Generator runs it on rows that continue one.
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

/// y[r] = x[r] + mix x[r - 1], with nothing before the first row of a sequence: a token shift, as in
/// RWKV (Peng et al. 2023).   x, y: rows × W, mix: W.
template <int W>
struct TokenShift {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool causal = true;  // rows depend on none that follow them
  template <class T>
  struct Params {
    T mix;
  };
  static constexpr Params<Param> params{Param::vector("mix", W, Init::ones)};
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input()};
  // A row needs the one before it: W numbers are kept of each row, and 2 rows are read, itself included.
  static constexpr Cached cached{.width = W, .window = 2};

  static void forward(auto& c) {
    auto x = c.x(), y = c.y();
    auto mix = c.weights.mix;
    for (int s = 0; s < c.sequences().count; ++s)
      for (int r = c.sequences().starts[s]; r < c.sequences().starts[s + 1]; ++r)
        for (int i = 0; i < W; ++i)
          y.put(r, i, r > c.sequences().starts[s] ? x(r, i) + mix(0, i) * x(r - 1, i) : x(r, i));
  }
  // The same for rows that continue texts: sequences().before says how many rows each has already.
  static void extend(auto& c) {
    auto x = c.x(), y = c.y();
    auto mix = c.weights.mix;
    const auto cache = c.cache();
    const auto& sequences = c.sequences();
    for (int s = 0; s < sequences.count; ++s)
      for (int r = sequences.starts[s]; r < sequences.starts[s + 1]; ++r) {
        const int position = sequences.before[s] + r - sequences.starts[s];
        auto* const kept = cache.row(cache.slots[s], position);
        for (int i = 0; i < W; ++i) kept[i] = x(r, i);
        const auto* const previous =
            position > 0 ? cache.row(cache.slot_of(s, position - 1), position - 1) : nullptr;
        for (int i = 0; i < W; ++i)
          y.put(r, i, previous ? x(r, i) + mix(0, i) * previous[i] : x(r, i));
      }
  }
  static void backward(auto& c) {
    auto x = c.saved.x, dy = c.dy(), dx = c.dx();
    auto mix = c.weights.mix, dmix = c.gradients.mix;
    for (int i = 0; i < W; ++i) {
      auto sum = c.zero();
      for (int s = 0; s < c.sequences().count; ++s) {
        const int first = c.sequences().starts[s], last = c.sequences().starts[s + 1];
        for (int r = first; r < last; ++r) {
          if (r > first) sum += dy(r, i) * x(r - 1, i);
          if (dx) dx.put(r, i, r + 1 < last ? dy(r, i) + mix(0, i) * dy(r + 1, i) : dy(r, i));
        }
      }
      if (dmix) dmix.put(0, i, sum);
    }
  }
};

constexpr int vocabulary = 12, width = 8;

struct Embed {
  static constexpr Value<width> trace(auto& g, Ids tokens) {
    return g("shift", TokenShift<width>{}, g("wte", Embedding<vocabulary, width>{}, tokens));
  }
};
struct Predict {
  static constexpr Value<1> trace(auto& g, Value<width> x, Ids targets) {
    return g("loss", CrossEntropy<vocabulary>{}, g("head", Linear<width, vocabulary>{}, x),
             targets);
  }
};
struct PredictWhatFollows {
  static constexpr Value<vocabulary> trace(auto& g, Value<width> x) {
    return g("head", Linear<width, vocabulary>{}, g("last", LastRow<width>{}, x));
  }
};
struct Shifted {
  using slot = sinter::slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.unit("embed", Embed{}, g.tokens());
    g.result(g.unit("head", Predict{}, x, g.targets()));
  }
  static constexpr void predict(auto& g) {
    g.result(g.unit("head", PredictWhatFollows{}, g.unit("embed", Embed{}, g.tokens())));
  }
};
struct Texts {
  using slot = sinter::slot::data;
  static constexpr int context = 20, vocabulary = acme::vocabulary;
};
struct shifted : Recipe<Shifted, Texts, Fp64, Sgd<>, Batch<{.global = 2, .micro = 1}>> {};
}  // namespace acme

int main() {
  using namespace sinter;
  HostBatch batch;
  batch.starts = {0, 5, 8};
  batch.ids = {{1, 2, 3, 4, 5, 6, 7, 8}, {2, 3, 4, 5, 6, 7, 8, 9}};
  const GradientReport report = check_gradients<acme::shifted>(batch);
  std::printf("%s", report.text().c_str());

  // Each token passes through the model once, and the logits are those of the whole text.
  Trainer<acme::shifted> trainer({.seed = 1});
  Generator<acme::shifted> generator;
  for (const auto& p : trainer.parameters())
    generator.weights().set_parameter(p.name, trainer.parameter(p.name));
  std::vector<std::int32_t> text{3, 1};
  generator.add({.tokens = text});
  double worst = 0;
  for (int more = 0; more < 10; ++more) {
    HostBatch whole;
    whole.starts = {0, std::int32_t(text.size())};
    whole.ids = {text};
    const Prediction prediction = trainer.predict(whole);
    for (int k = 0; k < acme::vocabulary; ++k)
      worst = std::max(worst, std::abs(double(prediction.values[std::size_t(k)]) -
                                       generator.logits(0)[std::size_t(k)]));
    const int parent = 0;
    text.push_back((7 * more) % acme::vocabulary);
    generator.extend({&parent, 1}, {&text.back(), 1});
  }
  std::printf("the logits differ by %.0e\n", worst);
  return report.passed() && worst < 1e-6 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// A classifier that is one layer: gradients, names, and the bits of the same model written otherwise.
#include "sinter/model/classifier.hpp"

#include "sinter/model/mlp.hpp"
#include "sinter/optimizer/adamw.hpp"
#include "support/batches.hpp"
#include "support/finite_differences.hpp"
#include "support/layer_models.hpp"

namespace sinter::detail::testing {
namespace {

constexpr int classes = 4;
using Logits = Linear<given_width, classes, mlp::like_torch<given_width>>;

/// The same model by the last unit of a multilayer perceptron, which has layer and loss in one.
struct Handwritten {
  using slot = slot::model;
  static constexpr void trace(auto& g) {
    auto x = g.template values<given_width>();
    auto target = g.targets();
    g.result(g.unit("output", mlp::ClassLoss<given_width, classes>{}, x, target));
  }
  static constexpr void predict(auto& g) {
    auto x = g.template values<given_width>();
    g.result(g.unit("output", mlp::Output<given_width, classes>{}, x));
  }
};

HostBatch batch_of(std::uint64_t seed) {
  HostBatch batch = sequences_of(lengths);
  add_values(batch, given_width, seed);
  add_ids(batch, classes, seed + 1, .2);
  return batch;
}

template <class Model, class... Policies>
using Net = Made<Model, UpTo<context>, Batch<{.global = global, .micro = micro}>, Policies...>;

TEST_CASE("the gradients of a classifier are right, also where rows have no class") {
  expect_right_gradients<Net<Classifier<Logits>, Fp64>>(batch_of(1));
}

TEST_CASE("a classifier is the same, bit for bit, as its layer with a loss behind it") {
  const TrainerSettings settings{.seed = 5, .threads = 1};
  Trainer<Net<Classifier<Logits, "output">, AdamW<{.lr = 1e-2}>>> made(settings);
  Trainer<Net<Handwritten, AdamW<{.lr = 1e-2}>>> written(settings);
  CHECK(parameters_of(made) == parameters_of(written));
  for (std::uint64_t step = 1; step <= 5; ++step) {
    const HostBatch batch = batch_of(10 * step);
    const Applied a = applied(made, batch), b = applied(written, batch);
    CHECK(a.loss.mean() == b.loss.mean());
    CHECK(a.gradient_norm == b.gradient_norm);
  }
  CHECK(parameters_of(made) == parameters_of(written));
  const HostBatch held_out = batch_of(1000), question = part(held_out, 0, micro);
  CHECK(made.evaluate(held_out).mean() == written.evaluate(held_out).mean());
  const Prediction logits = made.predict(question);
  CHECK(logits.columns == classes);
  CHECK(logits.values == written.predict(question).values);
}

TEST_CASE("parameters are called as the layer calls them, behind the name that is given") {
  Trainer<Net<Classifier<Logits>>> unnamed;
  Trainer<Net<Classifier<Logits, "net">>> named;
  auto names = [](const TrainerCore& trainer) {
    std::vector<std::string> all;
    for (const auto& [name, values] : parameters_of(trainer)) all.push_back(name);
    return all;
  };
  CHECK(names(unnamed) == std::vector<std::string>{"bias", "weight"});
  CHECK(names(named) == std::vector<std::string>{"net.bias", "net.weight"});
}

/// y[s] = gain * the first row of sequence s.
struct ScaledFirstRow {
  static constexpr std::array in{classes};
  static constexpr std::array out{classes};
  static constexpr bool pools = true;
  template <class T>
  struct Params {
    T gain;
  };
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Params<Param> params{Param::vector("gain", classes, Init::ones)};
  static constexpr Saved<Keep, Keep> saved{Keep::input()};

  static void forward(auto& c) {
    auto y = c.y();
    for (int s = 0; s < y.rows; ++s)
      for (int k = 0; k < classes; ++k)
        y.put(s, k, c.weights.gain(0, k) * c.x()(c.sequences().starts[s], k));
  }
  static void backward(auto& c) {
    auto dy = c.dy();
    for (int k = 0; k < classes; ++k) {
      auto sum = c.zero();
      for (int s = 0; s < dy.rows; ++s) sum += dy(s, k) * c.saved.x(c.sequences().starts[s], k);
      c.gradients.gain.put(0, k, sum);
    }
  }
};

TEST_CASE("if the layer pools, a class of each sequence is predicted") {
  HostBatch batch = sequences_of(lengths);
  add_values(batch, classes, 1);
  batch.ids.push_back({3, 0, -1, 1, 2});
  double loss = 0;
  int predicted = 0;
  for (int s = 0; s < batch.sequences(); ++s) {
    const float* row = &batch.values[0][std::size_t(batch.starts[std::size_t(s)] * classes)];
    const int label = batch.ids[0][std::size_t(s)];
    if (label < 0) continue;
    double sum = 0;
    for (int k = 0; k < classes; ++k) sum += std::exp(double(row[k]));
    loss += std::log(sum) - row[label];
    ++predicted;
  }
  using R = Net<Classifier<ScaledFirstRow>, Fp64>;
  expect_right_gradients<R>(batch);
  Trainer<R> trainer;  // its gains are 1
  CHECK(trainer.evaluate(batch).mean() == doctest::Approx(loss / predicted).epsilon(1e-12));
}

}  // namespace
}  // namespace sinter::detail::testing

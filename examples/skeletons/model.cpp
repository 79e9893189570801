// SPDX-License-Identifier: Apache-2.0
// A model to copy: a multilayer perceptron with residual blocks. docs/add_a_model.md explains each
// member. This file compiles, runs and learns a curve.
#include <cmath>
#include <cstdio>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

/// in, out: features of a row; width: of each block's input and output; blocks: number of blocks.
struct ResidualMlpOptions {
  int in = 1, width = 32, out = 1, blocks = 2;
  SINTER_FIELDS((in).at_least(1), (width).at_least(1), (out).at_least(1), (blocks).at_least(1))
};

namespace residual_mlp {

// Units. A unit is planned, recomputed and reduced as a whole; its trace() connects layers. A Value
// carries its width in its type, so a wrong connection is an error at its own line.
template <int In, int W>
struct Input {
  static constexpr Value<W> trace(auto& g, Value<In> x) {
    // The first and the last matrix of a model are not hidden: optimizers such as Muon treat them
    // like embeddings and heads.
    return g("", Linear<In, W, {.weight = Init::normal(.5f), .hidden = false}>{}, x);
  }
};

/// x + W₂ gelu(W₁ norm(x)).
template <int W>
struct Block {
  static constexpr Value<W> trace(auto& g, Value<W> x) {
    auto wide = g("up", Linear<W, 4 * W>{}, g("norm", LayerNorm<W>{}, x));
    return g("add", Add<W>{}, x, g("down", Linear<4 * W, W>{}, g("act", GeluTanh<4 * W>{}, wide)));
  }
};

template <int W, int Out>
struct Output {
  static constexpr Value<Out> trace(auto& g, Value<W> x) {
    return g("", Linear<W, Out, {.hidden = false}>{}, x);
  }
};

/// Output with a loss after it. It has Output's parameters, as names of unit and layers agree.
template <int W, int Out>
struct Loss {
  static constexpr Value<1> trace(auto& g, Value<W> x, Value<Out> target) {
    return g("loss", MeanSquaredError<Out>{}, Output<W, Out>::trace(g, x), target);
  }
};

}  // namespace residual_mlp

/// Blocks with pre-norm on a residual stream, for regression. Parameters: input, block.0 …, output.
template <ResidualMlpOptions O = {}>
struct ResidualMlp {
  using slot = slot::model;
  using Options = ResidualMlpOptions;
  static constexpr Options options = O;

  // Training: inputs, units in order, the loss. repeat() copies one plan, so 96 blocks compile
  // nearly as fast as 4.
  static constexpr void trace(auto& g) {
    auto x = body(g, g.template values<O.in>());
    auto target = g.template target_values<O.out>();
    g.result(g.unit("output", residual_mlp::Loss<O.width, O.out>{}, x, target));
  }

  // Prediction (optional): units with the same names share their parameters.
  static constexpr void predict(auto& g) {
    auto x = body(g, g.template values<O.in>());
    g.result(g.unit("output", residual_mlp::Output<O.width, O.out>{}, x));
  }

 private:
  static constexpr Value<O.width> body(auto& g, Value<O.in> x) {
    auto h = g.unit("input", residual_mlp::Input<O.in, O.width>{}, x);
    return g.repeat(O.blocks, "block", residual_mlp::Block<O.width>{}, h);
  }
};

}  // namespace acme

struct wave
    : sinter::Recipe<acme::ResidualMlp<{.width = 16, .blocks = 3}>, sinter::AdamW<{.lr = 3e-3}>,
                     sinter::Batch<{.global = 64, .micro = 64}>> {};

// The plan is a constant, so facts about the model can be asserted at compile time.
// input 16 + 16; a block: norm 16 + 16, up 16 × 64 + 64, down 64 × 16 + 16; output 16 + 1.
static_assert(sinter::Plan<wave>::parameters == 32 + 3 * (32 + 1088 + 1040) + 17);

int main() {
  std::vector<float> x, y;
  for (int i = 0; i < 512; ++i) {
    x.push_back(float(i) / 128 - 2);
    y.push_back(std::sin(3 * x.back()));
  }
  sinter::Trainer<wave> trainer;
  sinter::Loop loop(trainer, sinter::ArrayData(x, 1, y, 1, {.sequences = 64}));
  loop.run({.steps = 500});
  sinter::HostBatch question;
  question.starts = {0, 1};
  question.values = {{0.5f}};
  const float answer = trainer.predict(question).values[0];
  std::printf("sin(1.5) = %.3f, the model says %.3f\n", std::sin(1.5), answer);
  return std::abs(answer - std::sin(1.5f)) < 0.1f ? 0 : 1;
}

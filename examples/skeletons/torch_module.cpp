// SPDX-License-Identifier: Apache-2.0
// A layer to copy that LibTorch computes: convolutions and a batch norm, with Sinter's own loss.
// docs/add_a_torch_module.md explains each member. This file compiles, runs, and learns whether the
// stripe in a small noisy image is horizontal or vertical.
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include <cstdio>
#include <random>
#include <sinter/autograd/torch.hpp>
#include <sinter/sinter.hpp>

namespace acme {
using namespace sinter;

constexpr int side = 8, channels = 6, classes = 2;
constexpr int pixels = side * side, features = channels * pixels;

/// logits = linear(relu(h + conv2(h))), h = relu(norm(conv1(image))), both convolutions 3 × 3.
/// image: rows × 64, logits: rows × 2.
struct Convolutions {
  // The widths of operands and results; 0 is an operand of integer ids.
  static constexpr std::array in{pixels};
  static constexpr std::array out{classes};

  // Parameters, with their names and shapes in files. Tensors and matrices have weight decay,
  // vectors have none; Param::running is what torch calls a buffer.
  static constexpr std::array params{
      Param::tensor("conv1.weight", {channels, 1, 3, 3}, Init::normal(.2f)),
      Param::vector("norm.weight", channels, Init::ones),
      Param::vector("norm.bias", channels, Init::zeros),
      Param::tensor("conv2.weight", {channels, channels, 3, 3}, Init::normal(.1f)),
      Param::vector("conv2.bias", channels, Init::zeros),
      Param::matrix("fc.weight", classes, features, Init::normal(.02f)),
      Param::vector("fc.bias", classes, Init::zeros),
      Param::running("norm.running_mean", {channels}, Init::zeros),
      Param::running("norm.running_var", {channels}, Init::ones)};

  // Facts. random: the layer draws no random numbers, so ranks need not take turns. flops:
  // operations of forward for one row.
  static constexpr bool random = false;
  static constexpr std::int64_t flops(std::int64_t) {
    return std::int64_t(2) * features * (9 + 9 * channels + classes);
  }

  // Parameters come in the order of params, without running values. Those are in `buffers`, which
  // forward changes in place.
  static autograd::Results forward(const autograd::Inputs& inputs) {
    const std::vector<at::Tensor>& p = inputs.parameters;
    at::Tensor h = at::conv2d(inputs.x[0].view({-1, 1, side, side}), p[0], {}, 1, 1);
    h = at::batch_norm(h, p[1], p[2], inputs.buffers[0], inputs.buffers[1], inputs.training, .1,
                       1e-5, false);
    h = at::relu(h);
    h = at::relu(h.add(at::conv2d(h, p[3], p[4], 1, 1)));
    return {at::linear(h.flatten(1), p[5], p[6])};
  }

  // Connects the code. make() may be defined in another file, which then is the only one to include
  // LibTorch's headers.
  static std::unique_ptr<LayerObject> make(const AutogradSpec& spec) {
    return autograd::of_function(spec, forward);
  }
};

// The model: only this layer, with a loss after it. To use a layer among others, write a model like
// model.cpp beside this file.
struct stripes : Recipe<Classifier<Autograd<Convolutions>, "network">, AdamW<{.lr = 3e-3}>,
                        Batch<{.global = 64, .micro = 32}>> {};

/// Images with a horizontal (class 0) or vertical (class 1) stripe, in noise.
HostBatch draw(int count, std::mt19937& engine) {
  std::uniform_int_distribution<int> place(0, side - 1), kind(0, classes - 1);
  std::normal_distribution<float> noise(0, .5f);
  HostBatch batch;
  batch.values.resize(1);
  batch.ids.resize(1);
  for (int n = 0; n < count; ++n) {
    const int stands = kind(engine), line = place(engine);
    for (int row = 0; row < side; ++row)
      for (int column = 0; column < side; ++column)
        batch.values[0].push_back(noise(engine) + ((stands ? column : row) == line ? 2.0f : 0.0f));
    batch.ids[0].push_back(stands);
    batch.starts.push_back(n + 1);
  }
  return batch;
}

/// The fraction of images whose class has the larger logit.
double accuracy(TrainerCore& trainer, const HostBatch& batch) {
  const Prediction logits = trainer.predict(batch);
  int right = 0;
  for (int n = 0; n < batch.sequences(); ++n) {
    const auto row = logits.values.begin() + n * classes;
    right += (row[1] > row[0]) == (batch.ids[0][std::size_t(n)] == 1);
  }
  return double(right) / batch.sequences();
}

}  // namespace acme

int main() {
  using namespace acme;
  Trainer<stripes> trainer;
  std::mt19937 engine(1);
  for (int step = 1; step <= 60; ++step) {
    const Outcome outcome = trainer.step(draw(64, engine));
    const auto* applied = std::get_if<Applied>(&outcome);
    if (!applied) return std::puts("The loss is not finite."), 1;
    if (step % 20 == 0) std::printf("step %2d, loss %.4f\n", step, applied->loss.mean());
  }
  const double share = accuracy(trainer, draw(256, engine));
  std::printf("%.1f %% of new images are right\n", 100 * share);
  return share > .95 ? 0 : 1;
}

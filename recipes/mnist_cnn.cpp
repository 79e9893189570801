// SPDX-License-Identifier: Apache-2.0
// A convolutional network that reads handwritten digits, computed by LibTorch: that of burn's example
// https://github.com/tracel-ai/burn/tree/main/examples/import-model-weights, so that weights which
// PyTorch has trained fit, the batch norms' buffers included.
//
//   eval --weights mnist.safetensors --data t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz
//   train --data t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include <sinter/autograd/torch.hpp>
#include <sinter/sinter.hpp>
using namespace sinter;

namespace cnn {

constexpr int side = 28, classes = 10, hidden = 32, end = side - 6;
constexpr int features = 24 * end * end;

/// image: rows × 784, from 0 to 1; logits: rows × 10. Deviations are those of torch's modules.
struct Cnn {
  static constexpr std::array in{side * side};
  static constexpr std::array out{classes};
  static constexpr std::array params{
      Param::tensor("conv1.weight", {8, 1, 3, 3}, Init::normal(.19f)),
      Param::vector("conv1.bias", 8, Init::zeros),
      Param::tensor("conv2.weight", {16, 8, 3, 3}, Init::normal(.068f)),
      Param::vector("conv2.bias", 16, Init::zeros),
      Param::tensor("conv3.weight", {24, 16, 3, 3}, Init::normal(.048f)),
      Param::vector("conv3.bias", 24, Init::zeros),
      Param::vector("norm1.weight", 24, Init::ones),
      Param::vector("norm1.bias", 24, Init::zeros),
      Param::matrix("fc1.weight", hidden, features, Init::normal(.0054f)),
      Param::vector("fc1.bias", hidden, Init::zeros),
      Param::matrix("fc2.weight", classes, hidden, Init::normal(.1f)),
      Param::vector("fc2.bias", classes, Init::zeros),
      Param::vector("norm2.weight", classes, Init::ones),
      Param::vector("norm2.bias", classes, Init::zeros),
      Param::running("norm1.running_mean", {24}, Init::zeros),
      Param::running("norm1.running_var", {24}, Init::ones),
      Param::running("norm1.num_batches_tracked", Init::zeros),
      Param::running("norm2.running_mean", {classes}, Init::zeros),
      Param::running("norm2.running_var", {classes}, Init::ones),
      Param::running("norm2.num_batches_tracked", Init::zeros)};
  static constexpr bool random = false;  // it draws nothing
  static constexpr std::int64_t flops(std::int64_t) {
    constexpr std::int64_t first = 26 * 26 * 8 * 9, second = 24 * 24 * 16 * 8 * 9;
    return 2 * (first + second + std::int64_t(features) * (16 * 9 + hidden) + hidden * classes);
  }

  static autograd::Results forward(const autograd::Inputs& inputs) {
    const std::vector<at::Tensor>& p = inputs.parameters;
    at::Tensor x = inputs.x[0].view({-1, 1, side, side}).sub(.1307).div(.3081);
    for (std::size_t k = 0; k < 6; k += 2) x = at::relu(at::conv2d(x, p[k], p[k + 1]));
    x = norm(inputs, x, 6, 0).flatten(1);
    x = at::linear(at::relu(at::linear(x, p[8], p[9])), p[10], p[11]);
    return {norm(inputs, x, 12, 3)};
  }
  static std::unique_ptr<LayerObject> make(const AutogradSpec& spec) {
    return autograd::of_function(spec, forward);
  }

 private:
  /// A batch norm whose parameters and running values begin at these places.
  static at::Tensor norm(const autograd::Inputs& inputs, const at::Tensor& x, std::size_t parameter,
                         std::size_t buffer) {
    const at::Tensor* weights = &inputs.parameters[parameter];
    const at::Tensor* statistics = &inputs.buffers[buffer];
    if (inputs.training) statistics[2].add_(1);
    return at::batch_norm(x, weights[0], weights[1], statistics[0], statistics[1], inputs.training,
                          .1, 1e-5, false);
  }
};

}  // namespace cnn

struct mnist_cnn
    : Recipe<Classifier<Autograd<cnn::Cnn>>,
             ArrayFiles<{.in = 784, .out = 10, .classes = true, .divisor = 255, .held_out = 0.2}>,
             AdamW<{.lr = 1e-3, .weight_decay = 0.05}>, CosineDecay<{.warmup = 50, .steps = 500}>,
             Batch<{.global = 64, .micro = 64}>> {};

int main(int argc, char** argv) { return run<mnist_cnn>(argc, argv); }

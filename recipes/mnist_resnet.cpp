// SPDX-License-Identifier: Apache-2.0
// A residual network (He et al. 2016) that reads handwritten digits, computed by LibTorch: MNIST's
// images and labels, a fifth of them held out. Its weights have the names of
// torchvision's ResNet behind "resnet.".
//
//   train --data t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz
#include <ATen/ops/batch_norm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>

#include <algorithm>
#include <sinter/autograd/torch.hpp>
#include <sinter/sinter.hpp>
using namespace sinter;

namespace resnet {

constexpr int side = 28, classes = 10, narrow = 16, broad = 32;

/// The names of a convolution's weight and of the batch norm behind it.
struct Names {
  const char *weight, *gain, *offset, *mean, *variance;
};
/// The convolution has no bias, and size × size weights from each channel to each.
constexpr std::array<Param, 5> normed(const Names& names, int out, int in, int size,
                                      float deviation) {
  return {Param::tensor(names.weight, {out, in, size, size}, Init::normal(deviation)),
          Param::vector(names.gain, out, Init::ones), Param::vector(names.offset, out, Init::zeros),
          Param::running(names.mean, {out}, Init::zeros),
          Param::running(names.variance, {out}, Init::ones)};
}
template <std::size_t... N>
constexpr auto join(const std::array<Param, N>&... parts) {
  std::array<Param, (N + ...)> all{};
  auto* to = all.begin();
  ((to = std::copy(parts.begin(), parts.end(), to)), ...);
  return all;
}

/// image: rows × 784, logits: rows × 10. Deviations are √(2 / inputs of a number).
struct ResNet {
  static constexpr std::array in{side * side};
  static constexpr std::array out{classes};
  static constexpr auto params =
      join(normed({"conv1.weight", "bn1.weight", "bn1.bias", "bn1.running_mean", "bn1.running_var"},
                  narrow, 1, 3, .47f),
           normed({"layer1.0.conv1.weight", "layer1.0.bn1.weight", "layer1.0.bn1.bias",
                   "layer1.0.bn1.running_mean", "layer1.0.bn1.running_var"},
                  narrow, narrow, 3, .12f),
           normed({"layer1.0.conv2.weight", "layer1.0.bn2.weight", "layer1.0.bn2.bias",
                   "layer1.0.bn2.running_mean", "layer1.0.bn2.running_var"},
                  narrow, narrow, 3, .12f),
           normed({"layer2.0.conv1.weight", "layer2.0.bn1.weight", "layer2.0.bn1.bias",
                   "layer2.0.bn1.running_mean", "layer2.0.bn1.running_var"},
                  broad, narrow, 3, .12f),
           normed({"layer2.0.conv2.weight", "layer2.0.bn2.weight", "layer2.0.bn2.bias",
                   "layer2.0.bn2.running_mean", "layer2.0.bn2.running_var"},
                  broad, broad, 3, .083f),
           normed({"layer2.0.downsample.0.weight", "layer2.0.downsample.1.weight",
                   "layer2.0.downsample.1.bias", "layer2.0.downsample.1.running_mean",
                   "layer2.0.downsample.1.running_var"},
                  broad, narrow, 1, .35f),
           std::array{Param::matrix("fc.weight", classes, broad, Init::normal(.18f)),
                      Param::vector("fc.bias", classes, Init::zeros)});
  static constexpr bool random = false;  // it draws nothing
  static constexpr std::int64_t flops(std::int64_t) {
    constexpr std::int64_t middle = 14 * 14, end = 7 * 7;  // pixels of two stages
    return 2 * (middle * narrow * (9 + 2 * 9 * narrow) +
                end * broad * (9 * narrow + 9 * broad + narrow) + broad * classes);
  }

  static autograd::Results forward(const autograd::Inputs& inputs) {
    at::Tensor x = at::relu(convolve(inputs, 0, inputs.x[0].view({-1, 1, side, side}), 2, 1));
    x = at::relu(x.add(convolve(inputs, 2, at::relu(convolve(inputs, 1, x, 1, 1)), 1, 1)));
    const at::Tensor inner = convolve(inputs, 4, at::relu(convolve(inputs, 3, x, 2, 1)), 1, 1);
    x = at::relu(convolve(inputs, 5, x, 2, 0).add(inner));
    const auto last = inputs.parameters.end();
    return {at::linear(x.mean({2, 3}), last[-2], last[-1])};
  }
  static std::unique_ptr<LayerObject> make(const AutogradSpec& spec) {
    return autograd::of_function(spec, forward);
  }

 private:
  /// Convolution number k, and its norm.
  static at::Tensor convolve(const autograd::Inputs& inputs, std::size_t k, const at::Tensor& x,
                             std::int64_t stride, std::int64_t padding) {
    const at::Tensor* weights = &inputs.parameters[3 * k];
    const at::Tensor* statistics = &inputs.buffers[2 * k];
    return at::batch_norm(at::conv2d(x, weights[0], {}, stride, padding), weights[1], weights[2],
                          statistics[0], statistics[1], inputs.training, .1, 1e-5, false);
  }
};

}  // namespace resnet

struct mnist_resnet
    : Recipe<Classifier<Autograd<resnet::ResNet>, "resnet">,
             ArrayFiles<{.in = 784, .out = 10, .classes = true, .divisor = 255, .held_out = 0.2}>,
             AdamW<{.lr = 5e-3, .weight_decay = 0.05}>, CosineDecay<{.warmup = 50, .steps = 1000}>,
             Batch<{.global = 64, .micro = 64}>> {};

int main(int argc, char** argv) { return run<mnist_resnet>(argc, argv); }

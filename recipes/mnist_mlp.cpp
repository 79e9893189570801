// SPDX-License-Identifier: Apache-2.0
// A perceptron that reads handwritten digits: MNIST's images and labels, a fifth of them held out.
//
//   train --data t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz
#include <sinter/sinter.hpp>
using namespace sinter;

struct mnist_mlp
    : Recipe<Mlp<{.in = 784, .hidden = 256, .out = 10, .layers = 3, .classifier = true}>,
             ArrayFiles<{.in = 784, .out = 10, .classes = true, .divisor = 255, .held_out = 0.2}>,
             AdamW<{.lr = 2e-3, .weight_decay = 0.1}>, CosineDecay<{.warmup = 50, .steps = 1250}>,
             Batch<{.global = 64, .micro = 64}>> {};

int main(int argc, char** argv) { return run<mnist_mlp>(argc, argv); }

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/loss.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

// The cross-entropies of ids obey the policies LabelSmoothing and ClassWeights in training
// (kernel::LossOptions), and count targets whose logit is the largest in an evaluation with
// TokenAccuracy.

/// y = -log softmax(x weightᵀ)[target], in nats; 0 where the target is below zero. x: rows × W,
/// targets: one for each row, weight: Vocabulary × W (usually tied to an Embedding), y: rows × 1.
/// Works on chunks of rows, so that the logits never exist all at once (as Wijmans et al. 2024).
/// Padding rows of zeros behind the weight give matmuls a size that suits processors' matrix
/// instructions. They are no part of the softmax, and their gradient is zero.
template <int Vocabulary, int W, int Padding = 0>
struct LinearCrossEntropy {
  static constexpr std::array in{W, 0};
  static constexpr std::array out{1};
  static constexpr bool loss = true, cross_entropy = true;
  static constexpr int ids_below = Vocabulary;
  template <class T>
  struct Params {
    T weight;
  };
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Params<Param> params{
      Param::matrix("weight", Vocabulary, W, Init::normal(.02f), Padding)};
  static constexpr Saved<Keep, Keep> saved{Keep::input()};
  static constexpr std::int64_t flops(std::int64_t) { return std::int64_t(2) * Vocabulary * W; }
  /// Rows of a chunk: at least 128, enough for a fast matmul on a CPU, unless there are fewer.
  static constexpr int chunk(std::int64_t rows) {
    const std::int64_t limit =
        std::max(std::int64_t(128), detail::logit_bytes_at_once / 4 / Vocabulary);
    return int(std::min(rows, limit));
  }
  static constexpr std::int64_t scratch(std::int64_t rows) {
    return std::int64_t(chunk(rows)) * (Vocabulary + Padding);
  }

  static void forward(auto& c) {
    compute(c, c.x(), decltype(c.x()){}, decltype(c.gradients.weight){}, 0.0);
  }
  static void backward(auto& c) {
    compute(c, c.saved.x, c.dx(), c.gradients.weight, c.loss_weight());
  }

 private:
  static void compute(auto& c, auto x, auto dx, auto dw, double weight) {
    const Tensor logits(c.scratch(), chunk(x.rows), Vocabulary + Padding);
    kernel::linear_cross_entropy(c.stream(), x, c.weights.weight, c.ids(1), c.y(), dx, dw, weight,
                                 logits, c.loss_options());
  }
};

/// LinearCrossEntropy with a bias: y = -log softmax(x weightᵀ + bias)[target]. The bias stays a
/// parameter of this layer if the weight is borrowed from another (g.tied_weight). x: rows × W,
/// targets: one for each row, weight: Vocabulary × W, bias: Vocabulary, y: rows × 1.
template <int Vocabulary, int W>
struct LinearBiasCrossEntropy {
  static constexpr std::array in{W, 0};
  static constexpr std::array out{1};
  static constexpr bool loss = true, cross_entropy = true;
  static constexpr int ids_below = Vocabulary;
  template <class T>
  struct Params {
    T weight, bias;
  };
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Params<Param> params{Param::matrix("weight", Vocabulary, W, Init::normal(.02f)),
                                        Param::vector("bias", Vocabulary, Init::zeros)};
  static constexpr Saved<Keep, Keep> saved{Keep::input()};
  static constexpr std::int64_t flops(std::int64_t) { return std::int64_t(2) * Vocabulary * W; }
  static constexpr std::int64_t scratch(std::int64_t rows) {
    return std::int64_t(chunk(rows) + 1) * Vocabulary;
  }

  static void forward(auto& c) {
    decltype(c.gradients) none{};
    compute(c, c.x(), decltype(c.x()){}, none, 0.0);
  }
  static void backward(auto& c) { compute(c, c.saved.x, c.dx(), c.gradients, c.loss_weight()); }

 private:
  static constexpr int chunk(std::int64_t rows) {
    return LinearCrossEntropy<Vocabulary, W>::chunk(rows);
  }
  static void compute(auto& c, auto x, auto dx, const auto& gradients, double weight) {
    const Tensor logits(c.scratch(), chunk(x.rows) + 1, Vocabulary);
    kernel::linear_bias_cross_entropy(c.stream(), x, c.weights.weight, c.weights.bias, c.ids(1),
                                      c.y(), dx, gradients.weight, gradients.bias, weight, logits,
                                      c.loss_options());
  }
};

/// y = -log softmax(x)[class], in nats; 0 where the class is below zero. x, the logits: rows ×
/// Classes, classes: one id for each row, y: rows × 1. Where logits come from a table of many ids,
/// LinearCrossEntropy needs less memory.
template <int Classes>
struct CrossEntropy {
  static constexpr std::array in{Classes, 0};
  static constexpr std::array out{1};
  static constexpr bool loss = true, cross_entropy = true;
  static constexpr int ids_below = Classes;
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input(0)};

  static void forward(auto& c) {
    kernel::cross_entropy(c.stream(), c.x(), c.ids(1), c.y(), decltype(c.x()){}, 0.0,
                          c.loss_options());
  }
  static void backward(auto& c) {
    kernel::cross_entropy(c.stream(), c.saved.x, c.ids(1), c.y(), c.dx(), c.loss_weight(),
                          c.loss_options());
  }
};

/// y = Σ (x - target)² over the width; the step's loss is the mean over all numbers. x, target:
/// rows × W, y: rows × 1.
template <int W>
struct MeanSquaredError {
  static constexpr std::array in{W, W};
  static constexpr std::array out{1};
  static constexpr bool loss = true;
  template <class T, class Statistic>
  struct Saved {
    T x, target;
  };
  static constexpr Saved<Keep, Keep> saved{Keep::input(0), Keep::input(1)};

  static void forward(auto& c) {
    kernel::mean_squared_error(c.stream(), c.x(0), c.x(1), c.y(), decltype(c.x()){}, 0.0);
  }
  static void backward(auto& c) {
    auto x = c.saved.x, target = c.saved.target;
    kernel::mean_squared_error(c.stream(), x, target, c.y(), c.dx(0), c.loss_weight());
    if (auto dtarget = c.dx(1))  // a target that the model computes
      kernel::mean_squared_error(c.stream(), target, x, c.y(), dtarget, c.loss_weight());
  }
};

}  // namespace sinter

#pragma once
#include "sinter/kernels/loss.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// -log softmax(x weightᵀ)[target], in nats; 0 where the target is below zero.
/// x: rows × W, targets: rows, weight: Vocabulary × W (usually tied to an Embedding), y: rows × 1.
/// Works on chunks of rows, so that all logits never exist (as Wijmans et al. 2024).
/// Padding: rows of zeros behind the weight, so that the matmuls have a size that matrix units
/// like; the softmax does not see them, and their gradient is zero.
template <int Vocabulary, int W, int Padding = 0>
struct LinearCrossEntropy {
  static constexpr std::array in{W, 0};
  static constexpr std::array out{1};
  static constexpr bool loss = true;
  static constexpr int ids_below = Vocabulary;
  template <class T>
  struct Params {
    T weight;
  };
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Params<Param> params{matrix("weight", Vocabulary, W, normal(.02f), Padding)};
  static constexpr Saved<Keep, Keep> saved{input()};
  static constexpr std::int64_t flops(std::int64_t) { return std::int64_t(2) * Vocabulary * W; }
  /// Logits of about four megabytes, but of at least 128 rows: enough for a fast matmul.
  static constexpr int chunk(std::int64_t rows) {
    std::int64_t most = std::max(std::int64_t(128), (std::int64_t(1) << 20) / Vocabulary);
    return int(std::min(rows, most));
  }
  static constexpr std::int64_t scratch(std::int64_t rows) {
    return std::int64_t(chunk(rows)) * (Vocabulary + Padding);
  }

  static void forward(auto& c) {
    auto x = c.x();
    decltype(x) no_dx;
    decltype(c.gradients.weight) no_dw;
    kernel::linear_cross_entropy(c.stream(), x.data, c.weights.weight.data, c.ids(1).data,
                                 c.y().data, no_dx.data, false, no_dw.data, false, 0.0, c.scratch(),
                                 x.rows, W, Vocabulary, chunk(x.rows), Padding);
  }
  static void backward(auto& c) {
    auto x = c.saved.x, dx = c.dx();
    auto dw = c.gradients.weight;
    kernel::linear_cross_entropy(c.stream(), x.data, c.weights.weight.data, c.ids(1).data,
                                 c.y().data, dx.data, dx.add, dw.data, dw.add, c.loss_weight(),
                                 c.scratch(), x.rows, W, Vocabulary, chunk(x.rows), Padding);
  }
};

/// Σ (x - target)² over the width; the mean over all numbers is the step's loss.
/// x, target: rows × W, y: rows × 1.
template <int W>
struct MeanSquaredError {
  static constexpr std::array in{W, W};
  static constexpr std::array out{1};
  static constexpr bool loss = true;
  template <class T, class Statistic>
  struct Saved {
    T x, target;
  };
  static constexpr Saved<Keep, Keep> saved{input(0), input(1)};

  static void forward(auto& c) {
    using T = typename std::remove_reference_t<decltype(c)>::compute;
    auto x = c.x(0);
    kernel::mean_squared_error(c.stream(), x.data, c.x(1).data, c.y().data,
                               static_cast<T*>(nullptr), 0.0, x.rows, W, false);
  }
  static void backward(auto& c) {
    auto x = c.saved.x, target = c.saved.target, dx = c.dx(0), dtarget = c.dx(1);
    kernel::mean_squared_error(c.stream(), x.data, target.data, c.y().data, dx.data,
                               c.loss_weight(), x.rows, W, dx.add);
    if (dtarget)  // a target that the model computes
      kernel::mean_squared_error(c.stream(), target.data, x.data, c.y().data, dtarget.data,
                                 c.loss_weight(), x.rows, W, dtarget.add);
  }
};

}  // namespace sinter

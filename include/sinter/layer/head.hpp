// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/matmul.hpp"
#include "sinter/kernels/pool.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y[s] = the last row of sequence s that is no padding. x: rows × W, y: sequences × W.
template <int W>
struct LastRow {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool pools = true;
  static constexpr bool takes_last = true;
  static constexpr bool skips_padding = true;
  static constexpr bool cheap = true;

  static void forward(auto& c) { kernel::last_rows(c.stream(), c.x(), c.sequences(), c.y()); }
  static void backward(auto& c) {
    if (auto dx = c.dx()) kernel::last_rows_backward(c.stream(), c.dy(), c.sequences(), dx);
  }
};

/// y[s] = the first row of sequence s, such as BERT's [CLS]. x: rows × W, y: sequences × W.
template <int W>
struct FirstRow {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool pools = true;
  static constexpr bool skips_padding = true;
  static constexpr bool cheap = true;

  static void forward(auto& c) { kernel::first_rows(c.stream(), c.x(), c.sequences(), c.y()); }
  static void backward(auto& c) {
    if (auto dx = c.dx()) kernel::first_rows_backward(c.stream(), c.dy(), c.sequences(), dx);
  }
};

/// Logits: y = x weightᵀ. x: rows × W, y: rows × Vocabulary, weight: Vocabulary × W, usually tied
/// to an Embedding.
template <int Vocabulary, int W>
struct Unembedding {
  static constexpr std::array in{W};
  static constexpr std::array out{Vocabulary};
  template <class T>
  struct Params {
    T weight;
  };
  template <class T, class Statistic>
  struct Saved {
    T x;
  };
  static constexpr Params<Param> params{Param::matrix("weight", Vocabulary, W, Init::normal(.02f))};
  static constexpr Saved<Keep, Keep> saved{Keep::input()};
  static constexpr std::int64_t flops(std::int64_t) { return std::int64_t(2) * Vocabulary * W; }

  static void forward(auto& c) {
    kernel::matmul(c.stream(), c.x(), transposed(c.weights.weight), c.y());
  }
  static void backward(auto& c) {
    auto dy = c.dy();
    if (auto dx = c.dx()) kernel::matmul(c.stream(), dy, c.weights.weight, dx);
    if (auto dw = c.gradients.weight) kernel::matmul(c.stream(), transposed(dy), c.saved.x, dw);
  }
};

/// Unembedding with a bias: y = x weightᵀ + bias. The bias stays a parameter of this layer if the
/// weight is borrowed from another (g.tied_weight). x: rows × W, y: rows × Vocabulary, weight:
/// Vocabulary × W, bias: Vocabulary.
template <int Vocabulary, int W>
struct UnembeddingBias {
  static constexpr std::array in{W};
  static constexpr std::array out{Vocabulary};
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

  static void forward(auto& c) {
    kernel::matmul_bias(c.stream(), c.x(), transposed(c.weights.weight), c.weights.bias, c.y());
  }
  static void backward(auto& c) {
    auto dy = c.dy();
    if (auto dx = c.dx()) kernel::matmul(c.stream(), dy, c.weights.weight, dx);
    if (auto dw = c.gradients.weight) kernel::matmul(c.stream(), transposed(dy), c.saved.x, dw);
    if (auto db = c.gradients.bias) kernel::column_sum(c.stream(), dy, db);
  }
};

}  // namespace sinter

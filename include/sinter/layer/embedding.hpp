// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/embedding.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y[r] = weight[ids[r]]. ids: one for each row, y: rows × W, weight: Vocabulary × W, followed by
/// Padding rows of zeros for a head that is tied to it.
template <int Vocabulary, int W, int Padding = 0>
struct Embedding {
  static constexpr std::array in{0};
  static constexpr std::array out{W};
  static constexpr int ids_below = Vocabulary;
  static constexpr bool reads_weights_in_backward = false;
  template <class T>
  struct Params {
    T weight;
  };
  static constexpr Params<Param> params{
      Param::matrix("weight", Vocabulary, W, Init::normal(.02f), Padding)};
  template <class P>
  static constexpr std::int64_t scratch(std::int64_t rows) {
    static_assert(sizeof(typename P::statistic) >= sizeof(std::int32_t));
    return kernel::embedding_scratch<typename P::gradient>(rows, Vocabulary);
  }

  static void forward(auto& c) {
    kernel::embedding_forward(c.stream(), c.ids(), c.weights.weight, c.y());
  }
  static void backward(auto& c) {
    if (auto dw = c.gradients.weight)  // else frozen
      kernel::embedding_backward(c.stream(), c.ids(), c.dy(), dw,
                                 reinterpret_cast<std::int32_t*>(c.scratch()));
  }
};

/// y[r] = x[r] + weight[ids[r]], such as the embedding of a token's type. x, y: rows × W, ids: one
/// for each row, weight: Vocabulary × W.
template <int Vocabulary, int W>
struct AddEmbedding {
  static constexpr std::array in{W, 0};
  static constexpr std::array out{W};
  static constexpr bool passes_gradient = true;
  static constexpr int ids_below = Vocabulary;
  static constexpr bool reads_weights_in_backward = false;
  template <class T>
  struct Params {
    T weight;
  };
  static constexpr Params<Param> params{Param::matrix("weight", Vocabulary, W, Init::normal(.02f))};
  template <class P>
  static constexpr std::int64_t scratch(std::int64_t rows) {
    return Embedding<Vocabulary, W>::template scratch<P>(rows);
  }

  static void forward(auto& c) {
    kernel::add_embedding_forward(c.stream(), c.x(), c.ids(1), c.weights.weight, c.y());
  }
  static void backward(auto& c) {
    if (auto dw = c.gradients.weight)
      kernel::embedding_backward(c.stream(), c.ids(1), c.dy(), dw,
                                 reinterpret_cast<std::int32_t*>(c.scratch()));
    if (auto dx = c.dx()) kernel::put(c.stream(), c.dy(), dx);
  }
};

/// y[r] = x[r] + weight[0]: AddEmbedding for ids that are all 0 and no operand. x, y: rows × W,
/// weight: Vocabulary × W; its other rows get no gradient.
template <int Vocabulary, int W>
struct AddFirstEmbedding {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool passes_gradient = true;
  static constexpr bool reads_weights_in_backward = false;
  template <class T>
  struct Params {
    T weight;
  };
  static constexpr Params<Param> params{Param::matrix("weight", Vocabulary, W, Init::normal(.02f))};

  static void forward(auto& c) {
    kernel::add_embedding_forward(c.stream(), c.x(), {}, c.weights.weight, c.y());
  }
  static void backward(auto& c) {
    if (auto dw = c.gradients.weight) {
      auto others = dw.data + W;
      if (!dw.add) kernel::fill(c.stream(), others, 0, std::int64_t(Vocabulary - 1) * W);
      kernel::column_sum(c.stream(), c.dy(), Tensor(dw.data, 1, W, dw.add));
    }
    if (auto dx = c.dx()) kernel::put(c.stream(), c.dy(), dx);
  }
};

/// y[r] = x[r] + weight[Offset + position of r in its sequence]. x, y: rows × W, weight: (Positions
/// + Offset) × W; its first Offset rows are not used and get no gradient (BART has two).
/// requires  no sequence is longer than Positions
template <int Positions, int W, int Offset = 0>
struct AddPosition {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool passes_gradient = true;
  static constexpr bool reads_weights_in_backward = false;
  template <class T>
  struct Params {
    T weight;
  };
  static constexpr Params<Param> params{
      Param::matrix("weight", Positions + Offset, W, Init::normal(.02f))};

  static void forward(auto& c) {
    kernel::position_forward(c.stream(), c.x(), used(c.weights.weight), c.sequences(), c.y());
  }
  static void backward(auto& c) {
    if (auto dw = c.gradients.weight) {
      if (Offset > 0 && !dw.add) kernel::fill(c.stream(), dw.data, 0, std::int64_t(Offset) * W);
      kernel::position_backward(c.stream(), c.dy(), c.sequences(), used(dw));
    }
    if (auto dx = c.dx()) kernel::put(c.stream(), c.dy(), dx);
  }

 private:
  static auto used(auto rows) {
    return Tensor(rows.data + std::int64_t(Offset) * W, Positions, W, rows.add);
  }
};

}  // namespace sinter

#pragma once
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/embedding.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y[r] = weight[id[r]].   ids: rows, y: rows × W, weight: Vocabulary × W, behind which Padding
/// rows of zeros lie, for a head that is tied to it.
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
  static constexpr Params<Param> params{matrix("weight", Vocabulary, W, normal(.02f), Padding)};
  template <class P>
  static constexpr std::int64_t scratch(std::int64_t rows) {
    static_assert(sizeof(typename P::statistic) >= sizeof(std::int32_t));
    return kernel::embedding_scratch<typename P::gradient>(rows, Vocabulary);
  }

  static void forward(auto& c) {
    kernel::embedding_forward(c.stream(), c.ids().data, c.weights.weight.data, c.y().data, c.rows(),
                              W);
  }
  static void backward(auto& c) {
    auto dw = c.gradients.weight;
    if (!dw) return;  // frozen
    kernel::embedding_backward(c.stream(), c.ids().data, c.dy().data, dw.data, c.rows(), Vocabulary,
                               W, dw.add, reinterpret_cast<std::int32_t*>(c.scratch()));
  }
};

/// y[r] = x[r] + weight[position of r in its sequence].   x, y: rows × W, weight: Positions × W.
/// requires  no sequence is longer than Positions
template <int Positions, int W>
struct AddPosition {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool reads_weights_in_backward = false;
  template <class T>
  struct Params {
    T weight;
  };
  static constexpr Params<Param> params{matrix("weight", Positions, W, normal(.02f))};

  static void forward(auto& c) {
    const Sequences& s = c.sequences();
    kernel::position_forward(c.stream(), c.x().data, c.weights.weight.data, s.starts, s.count,
                             c.y().data, W);
  }
  static void backward(auto& c) {
    const Sequences& s = c.sequences();
    auto dy = c.dy(), dx = c.dx();
    auto dw = c.gradients.weight;
    if (dw)
      kernel::position_backward(c.stream(), dy.data, s.starts, s.count, dw.data, Positions, W,
                                dw.add);
    if (!dx) return;
    if (dx.add) {
      kernel::accumulate(c.stream(), dy.data, dx.data, dy.size());
    } else {
      kernel::copy(c.stream(), dy.data, dx.data, dy.size());
    }
  }
};

}  // namespace sinter

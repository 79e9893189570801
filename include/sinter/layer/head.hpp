#pragma once
#include "sinter/kernels/matmul.hpp"
#include "sinter/kernels/pool.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y[s] = the last row of sequence s.   x: rows × W, y: sequences × W.
template <int W>
struct LastRow {
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool pools = true;
  static constexpr bool cheap = true;

  static void forward(auto& c) {
    const Sequences& s = c.sequences();
    kernel::last_rows(c.stream(), c.x().data, s.starts, s.count, c.y().data, W);
  }
  static void backward(auto& c) {
    const Sequences& s = c.sequences();
    auto dx = c.dx();
    if (dx)
      kernel::last_rows_backward(c.stream(), c.dy().data, s.starts, s.count, dx.data, W, dx.add);
  }
};

/// y = x weightᵀ, logits.   x: rows × W, y: rows × Vocabulary, weight: Vocabulary × W, usually tied
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
  static constexpr Params<Param> params{matrix("weight", Vocabulary, W, normal(.02f))};
  static constexpr Saved<Keep, Keep> saved{input()};
  static constexpr std::int64_t flops(std::int64_t) { return std::int64_t(2) * Vocabulary * W; }

  static void forward(auto& c) {
    auto x = c.x();
    kernel::matmul(c.stream(), kernel::dense(x.data, x.rows, W),
                   kernel::transposed(c.weights.weight.data, Vocabulary, W),
                   kernel::dense(c.y().data, x.rows, Vocabulary), false);
  }
  static void backward(auto& c) {
    auto x = c.saved.x, dx = c.dx(), dy = c.dy();
    auto dw = c.gradients.weight;
    if (dx)
      kernel::matmul(c.stream(), kernel::dense(dy.data, dy.rows, Vocabulary),
                     kernel::dense(c.weights.weight.data, Vocabulary, W),
                     kernel::dense(dx.data, dx.rows, W), dx.add);
    if (dw)
      kernel::matmul(c.stream(), kernel::transposed(dy.data, dy.rows, Vocabulary),
                     kernel::dense(x.data, x.rows, W), kernel::dense(dw.data, Vocabulary, W),
                     dw.add);
  }
};

}  // namespace sinter

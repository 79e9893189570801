// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/elementwise.hpp"
#include "sinter/kernels/rotary.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

/// y = x + sinusoids of the row's position p in its sequence (Vaswani et al. 2017): sin(p θ_i) in
/// column i and cos(p θ_i) in column W / 2 + i, θ_i = 10000^(-2 i / W). Sines come first, then
/// cosines, as in Hugging Face's Marian. (The paper and ParlAI alternate them: the same columns in
/// another order.) x, y: rows × W. Nothing is learnt; the angles are computed in double precision.
template <int W>
struct AddSinusoids {
  static_assert(W % 2 == 0 && W <= kernel::max_rotary_width,
                "AddSinusoids: the width is odd or too large.");
  static constexpr std::array in{W};
  static constexpr std::array out{W};
  static constexpr bool passes_gradient = true;
  static constexpr std::int64_t scratch(std::int64_t rows) { return rows * W; }

  static void forward(auto& c) {
    Tensor table(c.scratch(), c.rows(), W);
    kernel::rotary_table(c.stream(), {}, c.sequences(), table);
    kernel::add_sinusoids(c.stream(), c.x(), table, c.sequences(), c.y());
  }
  static void backward(auto& c) {
    if (auto dx = c.dx()) kernel::put(c.stream(), c.dy(), dx);
  }
};

}  // namespace sinter

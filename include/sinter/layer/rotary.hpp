// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/kernels/rotary.hpp"
#include "sinter/layer/context.hpp"

namespace sinter {

using kernel::RotaryScaling;
/// The angles of rotary positions: their base, and their scaling for longer sequences.
using RotaryOptions = kernel::Rotary;

/// Joins queries, keys and values for attention, and rotates heads of queries and keys by the
/// angles of the row's position in its sequence (Su et al. 2021). Numbers i and i + D / 2 of a head
/// are rotated together, as in Hugging Face. q: rows × Heads D, k and v: rows × KeyHeads D, y: rows
/// × (Heads + 2 KeyHeads) D (q, k, v). Keeps nothing; the angles are computed in double precision.
template <int Heads, int KeyHeads, int D, RotaryOptions O = {}>
struct Rotary {
  static_assert(D % 2 == 0 && D <= kernel::max_rotary_width,
                "Rotary: the width of a head is odd or too large.");
  static constexpr std::array in{Heads * D, KeyHeads* D, KeyHeads* D};
  static constexpr std::array out{(Heads + 2 * KeyHeads) * D};
  static constexpr RotaryOptions options = O;
  static constexpr std::int64_t scratch(std::int64_t rows) { return rows * D; }

  static void forward(auto& c) {
    kernel::rotary_forward(c.stream(), c.x(0), c.x(1), c.x(2), angles(c), c.sequences(), c.y());
  }
  static void backward(auto& c) {
    kernel::rotary_backward(c.stream(), c.dy(), in[0], in[1], angles(c), c.sequences(), c.dx(0),
                            c.dx(1), c.dx(2));
  }

 private:
  static auto angles(auto& c) {
    Tensor table(c.scratch(), c.rows(), D);
    kernel::rotary_table(c.stream(), options, c.sequences(), table);
    return table;
  }
};

}  // namespace sinter

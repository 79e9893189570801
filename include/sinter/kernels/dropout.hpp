// SPDX-License-Identifier: Apache-2.0
// Dropout whose mask is a pure function of a key and the element's row and column. No mask is
// saved: recomputation and any split of the global batch reproduce it. T: float, double, BFloat16
// or Float16.
//
// Errors, with ε the epsilon of Wide<T>: 2 ε of the result, and with an add flag one ε of the sum
// more; narrow types add the rounding of what is stored.
#pragma once
#include <cstdint>

#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// The probability of dropping an element, and what decides the mask.
struct Dropout {
  float probability = 0;       ///< probability of dropping an element, in [0, 1), exact to 2⁻³²
  std::uint64_t key = 0;       ///< hash of seed, step and layer, such as mix() makes it
  std::int64_t first_row = 0;  ///< the number of row 0 in the global batch
};

/// y = x / (1 - p) where an element is kept, else 0; y += … with its add flag. Applied to a
/// gradient it is the backward pass. The mask is a function of (key, first_row + row, column).
/// p = 0 copies. x and y have one shape and may be the same.
template <class T>
void dropout(Stream& stream, Input<T> x, Tensor<T> y, Dropout dropout);

}  // namespace sinter::kernel

// Dropout whose mask is a pure function of a key and the element's place: nothing is saved,
// recomputation repeats it, and so does any split of the global batch. T: float, double,
// BFloat16 or Float16.
// Errors: 2 ε of the result, ε the epsilon of Wide<T>, and of the sum one ε more; narrow types add
// the rounding of what is stored.
#pragma once
#include <cstdint>

#include "sinter/kernels/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// Each element is dropped with `probability` (in [0, 1), to 2⁻³²). `key` mixes whatever the
/// mask depends on besides the place: seed, step, layer (see random.hpp, mix). `first_row` is the
/// place of row 0 in the global batch.
struct Dropout {
  float probability = 0;
  std::uint64_t key = 0;
  std::int64_t first_row = 0;
};

/// y = x / (1 - p) where kept, else 0; y += … with its add flag. Of a gradient it is the backward
/// pass. The mask is a function of (key, first_row + row, column).   x, y: of one shape, may be the
/// same. p = 0 copies.
template <class T>
void dropout(Stream& stream, Input<T> x, Tensor<T> y, Dropout dropout);

}  // namespace sinter::kernel

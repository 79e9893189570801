// Dropout whose mask is a pure function of a key and the element's place: nothing is saved,
// recomputation repeats it, and so does any split of the global batch. T: float, double,
// BFloat16 or Float16.
// Errors: 2 ε of the result, ε the epsilon of Wide<T>, and of the sum one ε more; narrow types add
// the rounding of what is stored.
#pragma once
#include <cstdint>

#include "sinter/kernels/stream.hpp"

namespace sinter::kernel {

/// Each element is dropped with `probability` (in [0, 1), to 2⁻³²). `key` mixes whatever the
/// mask depends on besides the place: seed, step, layer (see random.hpp, mix). `first_row` is the
/// place of row 0 in the global batch.
struct Dropout {
  float probability = 0;
  std::uint64_t key = 0;
  std::int64_t first_row = 0;
};

/// y = x / (1 - p) where kept, else 0. The mask is a function of (key, first_row + row, column).
/// x, y: rows × width, may be the same. p = 0 copies.
template <class T>
void dropout_forward(Stream& stream, const T* x, T* y, int rows, int width, Dropout dropout);

/// dx = dy / (1 - p) where kept, else 0; dx += … with `add`.   dy, dx may be the same.
template <class T>
void dropout_backward(Stream& stream, const T* dy, T* dx, int rows, int width, Dropout dropout,
                      bool add);

}  // namespace sinter::kernel

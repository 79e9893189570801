// From rows to sequences.
#pragma once
#include <cstdint>

#include "sinter/kernels/stream.hpp"

namespace sinter::kernel {

/// y[s] = x[last row of sequence s].   Sequence s is rows [starts[s], starts[s + 1]), not empty;
/// x: starts[sequences] × width, y: sequences × width.
template <class T>
void last_rows(Stream& stream, const T* x, const std::int32_t* starts, int sequences, T* y,
               int width);

/// dx = dy in the last row of each sequence and 0 elsewhere, or += with `add`.
template <class T>
void last_rows_backward(Stream& stream, const T* dy, const std::int32_t* starts, int sequences,
                        T* dx, int width, bool add);

}  // namespace sinter::kernel

// SPDX-License-Identifier: Apache-2.0
// Pooling: one row of each sequence.
#pragma once
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// y[s] = x[last row of sequence s that is no padding]. x: rows × width, y: sequences × width.
/// requires  no sequence is empty
template <class T>
void last_rows(Stream& stream, Input<T> x, Sequences sequences, Tensor<T> y);

/// dx = dy in the row that last_rows() takes of each sequence and 0 elsewhere, or += with its add
/// flag. dy: sequences × width, dx: rows × width.
template <class T>
void last_rows_backward(Stream& stream, Input<T> dy, Sequences sequences, Tensor<T> dx);

/// y[s] = x[first row of sequence s]. x: rows × width, y: sequences × width.
/// requires  no sequence is empty
template <class T>
void first_rows(Stream& stream, Input<T> x, Sequences sequences, Tensor<T> y);
/// dx = dy in the first row of each sequence and 0 elsewhere, or += with its add flag.
template <class T>
void first_rows_backward(Stream& stream, Input<T> dy, Sequences sequences, Tensor<T> dx);

}  // namespace sinter::kernel

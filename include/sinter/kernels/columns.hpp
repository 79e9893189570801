// SPDX-License-Identifier: Apache-2.0
// Copies of columns of a matrix. T: float, double, BFloat16 or Float16. Copies are exact; the exact
// sum is rounded once to Wide<T> and once to T.
#pragma once
#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// y[r][first + c] = x[r][c]; the other columns of y stay as they are. x: rows × width, y: rows ×
/// at least first + width.
template <class T>
void put_columns(Stream& stream, Input<T> x, Tensor<T> y, int first);

/// y[r][c] = x[r][first + c], or += with its add flag. x: rows × at least first + width, y: rows ×
/// width.
template <class T>
void take_columns(Stream& stream, Input<T> x, int first, Tensor<T> y);

}  // namespace sinter::kernel

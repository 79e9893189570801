// SPDX-License-Identifier: Apache-2.0
// SwiGLU (Shazeer 2020): silu of one half of a matrix, or of one matrix, multiplies the other. T:
// float, double, BFloat16 or Float16. The bits are the same for every number of threads.
//
// Errors, with ε the epsilon of Wide<T>; a narrow T adds the rounding of what is stored, and an
// add flag adds one ε of the sum:
//   y      4 ε max(|gate|, 1) |up|
//   dgate  16 ε |dy up|
//   dup    4 ε max(|gate|, 1) |dy|
#pragma once
#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// y = silu(gate) up, where silu(z) = z / (1 + exp(-z)).
/// x: rows × 2 width (in each row gate, then up), y: rows × width.
template <class T>
void swiglu_forward(Stream& stream, Input<T> x, Tensor<T> y);

/// dx = gradient of x, or += with its add flag: in each row up silu'(gate) dy, then silu(gate) dy.
/// x, dx: rows × 2 width, dy: rows × width; dx may be x.
template <class T>
void swiglu_backward(Stream& stream, Input<T> x, Input<T> dy, Tensor<T> dx);

/// y = silu(gate) up of two matrices, silu(z) = z / (1 + exp(-z)). gate, up, y: rows × width.
template <class T>
void swiglu_forward(Stream& stream, Input<T> gate, Input<T> up, Tensor<T> y);

/// dgate and dup = gradients of gate and up, or += with its add flag for each; an empty one is not
/// computed. All are rows × width; neither dgate nor dup may be gate or up.
template <class T>
void swiglu_backward(Stream& stream, Input<T> gate, Input<T> up, Input<T> dy, Tensor<T> dgate,
                     Tensor<T> dup);

}  // namespace sinter::kernel

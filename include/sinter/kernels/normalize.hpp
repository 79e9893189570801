// SPDX-License-Identifier: Apache-2.0
// Normalization of rows: layer normalization (Ba, Kiros & Hinton 2016), and root mean square
// normalization (Zhang & Sennrich 2019), as in Llama, which is layer normalization with a mean and
// a bias of zero. T is the type of elements, S of statistics, G of the gradients of weight and
// bias. They are all float, all double, or T is BFloat16 or Float16, S float, and G float or T; a
// narrow G is rounded once. Each row's mean and variance are taken in two passes. The bits are the
// same for every number of threads.
//
// Errors to first order, with ε the epsilon of S, n = (x - mean) inverse, e = dy weight and a =
// mean|x| inverse, the row's distance from zero. A narrow T adds the rounding of what is stored.
// Layer norm:
//   mean     (2 + width / 8) ε mean|x|
//   inverse  (4 + width / 8) ε inverse
//   y        (4 + width / 8) ε ((|n| + a) |weight| + |bias|)
//   dx       (8 + width / 8) ε inverse (|e| + (1 + |n|) (1 + a) √mean(e²)); with dh_in or an add
//            flag, one ε of each sum more
//   dweight  (16 + rows / 64 + width / 8) ε Σ_r |dy| (|n| + a); with its add flag, one ε of the sum
//   dbias    (16 + rows / 64) ε Σ_r |dy|; with its add flag, one ε of the sum
// RMS norm:
//   inverse, y   relative to themselves: (4 + width / 8) ε
//   dx           (16 + width) ε inverse (|e| + |n| √mean(e²)); with dh_in or an add flag, one ε of
//                each sum more
//   dweight      (32 + rows / 64 + width / 8) ε Σ_r |dy n|; with its add flag, one ε of the sum
#pragma once
#include <cstdint>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// Layer norm: y[r] = (x[r] - mean[r]) inverse[r] weight + bias,
///             where inverse = 1 / √(variance + eps)
/// RMS norm, if mean and bias are empty:
///             y[r] = x[r] inverse[r] weight, where inverse = 1 / √(mean(x²) + eps)
/// x, y: rows × width, and may be the same; weight, bias: 1 × width; mean, inverse: rows × 1.
template <class T, class S>
void normalize_forward(Stream& stream, Input<T> x, Input<T> weight, Input<T> bias, Tensor<T> y,
                       Output<S> mean, Tensor<S> inverse, double eps);

/// h = a + b, and y = h normalized. a, b, h, y: rows × width; h may be a or b.
template <class T, class S>
void add_normalize_forward(Stream& stream, Input<T> a, Input<T> b, Input<T> weight, Input<T> bias,
                           Output<T> h, Tensor<T> y, Output<S> mean, Tensor<S> inverse, double eps);

/// Least number of blocks of rows that normalize_backward() sums apart.
inline constexpr int min_row_blocks = 32;
/// Elements of S that normalize_backward() needs as scratch; `gradients`: 2 with a bias, else 1.
constexpr std::int64_t normalize_scratch(int gradients, int width, int blocks = min_row_blocks) {
  return std::int64_t{blocks} * gradients * width;
}

/// Gradients at x, or at h = a + b. Each result obeys its add flag; one that is empty is not
/// computed.
///   dy       the gradient of y
///   dh_in    the gradient that reaches h around the norm, added to the result; may be empty
///   dx       the gradient of x, or of h
///   dx2      the same gradient, for the second summand of h
///   dweight  Σ_r dy (x - mean) inverse
///   dbias    Σ_r dy; empty for RMS norm, and where dweight is
///   mean     empty for RMS norm
///   scratch  normalize_scratch() elements for `blocks` blocks, not needed if dweight is empty
///   blocks   at least min_row_blocks, which is what the CPU uses. A card reads rows only once if
///            there are several blocks for each of its multiprocessors
/// x, dy, dh_in, dx, dx2: rows × width; dx or dx2 may be dy or dh_in.
template <class T, class S, class G>
void normalize_backward(Stream& stream, Input<T> x, Input<T> weight, Input<S> mean,
                        Input<S> inverse, Input<T> dy, Input<T> dh_in, Tensor<T> dx, Output<T> dx2,
                        Tensor<G> dweight, Output<G> dbias, S* scratch,
                        int blocks = min_row_blocks);

}  // namespace sinter::kernel

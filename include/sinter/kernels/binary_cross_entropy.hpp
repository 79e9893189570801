// SPDX-License-Identifier: Apache-2.0
// The loss of several independent yes-or-no answers for each row, with its gradient. T is the type
// of elements, S of losses: both float, both double, or T is BFloat16 or Float16 and S float.
//
// Errors, with ε the epsilon of S; a narrow T adds the rounding of what is stored, and an add flag
// adds one ε of the sum:
//   losses  (3 + √width / 2) ε Σ (|x| + |x target| + log(1 + exp(-|x|)))
//   dx      weight ε (4 logistic(x) + |logistic(x) - target|), dtarget  weight ε |x|
#pragma once
#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// losses[r] = Σ_c -(t log p + (1 - t) log(1 - p)), where p = logistic(x[r][c]) and t =
/// target[r][c]. It is formed as max(x, 0) - x t + log(1 + exp(-|x|)), which no finite x lets
/// overflow.
/// dx = weight (p - t) and dtarget = -weight x, or += with an add flag; each may be empty, and dx
/// may be x. x, target, dx, dtarget: rows × width, losses: rows × 1.
template <class T, class S>
void binary_cross_entropy(Stream& stream, Input<T> x, Input<T> target, Tensor<S> losses,
                          Tensor<T> dx, Tensor<T> dtarget, double weight);

}  // namespace sinter::kernel

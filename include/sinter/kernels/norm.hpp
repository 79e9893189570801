// SPDX-License-Identifier: Apache-2.0
// Sums over flat arrays, accumulated in double over fixed blocks that are combined in order: the
// bits are the same for every number of threads. NaN and infinity propagate. Error ≤ 16 ε Σ x² or
// 16 ε Σ|x|, ε the epsilon of double: no sum has more than 1024 summands, up to n = 2³⁰ (roundings
// are as good as random, Higham & Mary 2019). `result` is a place in the device's memory, which is
// assigned, or added to.
#pragma once
#include <cstdint>

#include "sinter/kernels/stream.hpp"

namespace sinter::kernel {

/// *result = Σ x[i]², or += with `add`.
template <class T>
void sum_of_squares(Stream& stream, const T* x, std::int64_t n, double* result, bool add = false);

/// *result = Σ x[i], or += with `add`.
template <class T>
void sum(Stream& stream, const T* x, std::int64_t n, double* result, bool add = false);

/// x[i] *= 1 / max(√Σ x[i]², least), the factor rounded to T. T: float or double.
template <class T>
void scale_to_unit_norm(Stream& stream, T* x, std::int64_t n, double least);

}  // namespace sinter::kernel

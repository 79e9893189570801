// SPDX-License-Identifier: Apache-2.0
// Sums over flat arrays, accumulated in double over fixed blocks that are combined in order: the
// bits are the same for every number of threads. NaN and infinity propagate. Error ≤ 16 ε Σ x² or
// 16 ε Σ|x|, ε the epsilon of double: no sum has more than 1024 summands, up to n = 2³⁰ (roundings
// are as good as random, Higham & Mary 2019).
#pragma once
#include <cstdint>

#include "sinter/kernels/stream.hpp"

namespace sinter::kernel {

/// Σ x[i]².
template <class T>
double sum_of_squares(Stream& stream, const T* x, std::int64_t n);

/// Σ x[i].
template <class T>
double sum(Stream& stream, const T* x, std::int64_t n);

}  // namespace sinter::kernel

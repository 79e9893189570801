// SPDX-License-Identifier: Apache-2.0
// Moving averages over steps.
#pragma once
#include <cstdint>

#include "sinter/base/bfloat16.hpp"
#include "sinter/base/float16.hpp"
#include "sinter/hardware/stream.hpp"

namespace sinter::kernel {

/// average[i] += weight (x[i] - average[i]), in Wide<T>: a fused multiply-add after a rounded
/// difference. Both arrays have n elements. T: float, double, BFloat16 or Float16.
template <class T>
void move_average(Stream& stream, const T* x, Wide<T>* average, double weight, std::int64_t n);

}  // namespace sinter::kernel

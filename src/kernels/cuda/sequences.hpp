// SPDX-License-Identifier: Apache-2.0
// Where rows lie in sequences, whose starts only the device knows.
#pragma once
#include <cstdint>

#include "device/cuda/language.hpp"

namespace sinter::kernel {

/// The sequence that a row is in, which is not empty. starts: of `count` sequences, and the end.
/// requires  starts[0] <= row < starts[count]
__device__ __forceinline__ int sequence_of(const std::int32_t* starts, int count,
                                           std::int64_t row) {
  int first = 0, end = count;  // the last sequence that starts at the row or before it
  while (end - first > 1) {
    const int middle = first + (end - first) / 2;
    (starts[middle] <= row ? first : end) = middle;
  }
  return first;
}

}  // namespace sinter::kernel

// SPDX-License-Identifier: Apache-2.0
// The places of rows in sequences, whose starts only the device knows.
#pragma once
#include "hardware/cuda/launch.hpp"
#include "sinter/kernels/tensor.hpp"

namespace sinter::kernel {

/// The last s in [0, count) whose of(s) is at most `value`, where of() grows; 0 if there is none.
template <class F>
__device__ __forceinline__ int last_at_most(int count, int value, const F& of) {
  int first = 0, end = count;
  while (end - first > 1) {
    const int middle = first + (end - first) / 2;
    if (of(middle) <= value)
      first = middle;
    else
      end = middle;
  }
  return first;
}

/// The sequence that a row is in, which is not empty. starts: of `count` sequences, and the end.
/// requires  starts[0] <= row < starts[count]
__device__ __forceinline__ int sequence_of(const std::int32_t* starts, int count, int row) {
  return last_at_most(count, row, [=](int s) { return starts[s]; });
}

/// The rows of a sequence that are no padding.
__device__ __forceinline__ int own_rows_of(const Sequences& sequences, int s) {
  return sequences.lengths ? sequences.lengths[s] : sequences.starts[s + 1] - sequences.starts[s];
}

/// The position of a row in its text, from 0.
/// requires  some sequence has the row
__device__ __forceinline__ int position_of(const Sequences& sequences, int row) {
  const int s = sequence_of(sequences.starts, sequences.count, row);
  return row - sequences.starts[s] + (sequences.before ? sequences.before[s] : 0);
}

}  // namespace sinter::kernel

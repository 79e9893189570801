// SPDX-License-Identifier: Apache-2.0
// Kernels that do the same with each element of flat arrays.
#pragma once
#include <algorithm>
#include <cstdint>

#include "hardware/cuda/launch.hpp"

namespace sinter::kernel {

/// Threads of a block that calls for_each_element.
inline constexpr int element_threads = 256;
/// Enough to fill a card of 132 multiprocessors, each of which has room for 8; further blocks would
/// only compute their constants anew.
inline constexpr std::int64_t max_element_blocks = 2 * 8 * 132;

/// The grid of a kernel that calls for_each_element(n, …).
inline Grid grid_of_elements(std::int64_t n) {
  const std::int64_t blocks = (n + element_threads - 1) / element_threads;
  return {unsigned(std::min(blocks, max_element_blocks)), element_threads};
}

/// Calls body(i) for every i in [0, n), each in one thread of the grid.
template <class F>
__device__ __forceinline__ void for_each_element(std::int64_t n, const F& body) {
  const std::int64_t stride = std::int64_t(gridDim.x) * element_threads;
  std::int64_t i = std::int64_t(blockIdx.x) * element_threads + threadIdx.x;
  for (; i < n; i += stride) body(i);
}

/// Assigns to an element or adds to it.
template <class T, class S>
__device__ __forceinline__ void put_element(T* to, S value, bool add) {
  *to = T(add ? S(*to) + value : value);
}

/// a b + c, rounded once.
__device__ __forceinline__ float fused(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double fused(double a, double b, double c) { return fma(a, b, c); }

}  // namespace sinter::kernel

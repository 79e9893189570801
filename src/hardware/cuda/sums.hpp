// SPDX-License-Identifier: Apache-2.0
// Sums of what the threads of a warp or a block have, in an order that does not depend on theirs.
#pragma once
#include "hardware/cuda/launch.hpp"

namespace sinter::kernel {

/// Threads of a warp.
inline constexpr int warp = 32;

/// The sum over a whole warp, in each of its threads.
template <class T>
__device__ __forceinline__ T warp_sum(T x) {
#ifdef __CUDACC__
  for (int lanes = warp / 2; lanes > 0; lanes /= 2) x += __shfl_xor_sync(~0u, x, lanes);
  return x;
#else
  return emulated::sum_of_warp(x);  // the same bits, for a fifth of the waits
#endif
}

/// The sum over a block of whole warps, in each of its threads. room: shared memory, an element for
/// each warp.
template <class T>
__device__ __forceinline__ T block_sum(T x, T* room) {
  const int lane = int(threadIdx.x) % warp, warps = int(blockDim.x) / warp;
  x = warp_sum(x);
  __syncthreads();  // somebody may still read the room
  if (lane == 0) room[threadIdx.x / warp] = x;
  __syncthreads();
  x = lane < warps ? room[lane] : T(0);
  return warp_sum(x);
}

}  // namespace sinter::kernel

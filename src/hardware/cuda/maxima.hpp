// SPDX-License-Identifier: Apache-2.0
// Maxima over the threads of a warp or a block. NaN is ignored unless there is nothing else.
#pragma once
#include "hardware/cuda/sums.hpp"

namespace sinter::kernel {

__device__ __forceinline__ int larger(int a, int b) { return a > b ? a : b; }
__device__ __forceinline__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ __forceinline__ double larger(double a, double b) { return fmax(a, b); }

/// The largest number in a whole warp, in each of its threads.
template <class T>
__device__ __forceinline__ T warp_max(T x) {
#ifdef __CUDACC__
  for (int lanes = warp / 2; lanes > 0; lanes /= 2) x = larger(x, __shfl_xor_sync(~0u, x, lanes));
#else
  const std::uint64_t* all = emulated::exchanged(~0u, x);  // one wait
  for (int lane = 0; lane < emulated::lanes_of_warp(); ++lane) {
    T other;
    std::memcpy(&other, all + lane, sizeof other);
    x = larger(x, other);
  }
#endif
  return x;
}

/// The largest number in a block of whole warps, in each of its threads. room: shared memory, an
/// element for each warp.
template <class T>
__device__ __forceinline__ T block_max(T x, T* room) {
  const int lane = int(threadIdx.x) % warp, warps = int(blockDim.x) / warp;
  x = warp_max(x);
  __syncthreads();  // somebody may still read the room
  if (lane == 0) room[threadIdx.x / warp] = x;
  __syncthreads();
  return warp_max(room[lane < warps ? lane : 0]);
}

}  // namespace sinter::kernel

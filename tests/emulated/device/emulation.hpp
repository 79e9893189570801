// SPDX-License-Identifier: Apache-2.0
// CUDA C++ on the host, as far as our kernels use it: one block after the other, each of its threads a
// fiber. The order of threads and blocks is arbitrary but repeatable, and another one on demand, so
// that a missing barrier shows as other bits. All shared memory is what a launch asks for, and holds
// NaNs at first. There are no static shared variables, no parts of warps, and nothing of the memory order
// between blocks that run at once. (Tensor cores: emulated_tensor_cores.hpp.)
#pragma once
#include <math.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned across = 1, unsigned down = 1, unsigned deep = 1)
      : x(across), y(down), z(deep) {}
};

namespace sinter::kernel::emulated {

/// Lanes of a warp.
inline constexpr int lanes = 32;

/// Bytes that a thread has begun to copy into shared memory; zeros where `from` is null.
struct LateCopy {
  void* to;
  const void* from;
  int bytes, group;
};

/// A thread of the block at hand.
struct Thread {
  dim3 index;
  int number = 0;              ///< in its block
  unsigned parity = 0;         ///< of its exchanges with the warp so far
  std::vector<LateCopy> late;  ///< copies that it has not waited for
  int groups = 0;              ///< of copies, that it has ended

  int lane() const { return number % lanes; }
};
extern thread_local Thread* current;
extern thread_local dim3 block_index, block_size, grid_size;
extern thread_local std::byte* shared;  ///< the block's memory, as its launch asked for

/// In how many orders threads may run.
inline constexpr int orders = 4;

/// Calls body(closure) for each thread of each block. Of `order`, bit 0 says that blocks and threads
/// begin with the last one, and bit 1 that of threads that may go on the latest one does, so that a
/// warp runs ahead of the others as far as barriers let it. Ends the process with a message if
/// threads wait for others that do not come.
/// requires  no kernel launches another
void run(dim3 grid, dim3 block, int shared_bytes, int order, void (*body)(const void*),
         const void* closure);

/// Whether bit 1 of the order is set.
bool runs_ahead();
/// Waits for all threads of the block that are not done.
void wait_for_block();
/// Waits for all lanes of the warp.
void wait_for_warp();
/// Whether all other lanes of the warp wait already.
bool last_of_warp();
/// Where the lanes of the warp put what they exchange next: a place for each.
std::uint64_t* exchange();
/// How many lanes the warp has: fewer than 32 in the last one of some blocks.
int lanes_of_warp();
/// Ends the process: this is not emulated.
[[noreturn]] void refuse(const char* what);

/// Gives a value to the other lanes, waits for them, and returns what all gave.
template <class T>
const std::uint64_t* exchanged(unsigned mask, T value) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
  if (mask != ~0u) refuse("an exchange of a part of a warp");
  std::uint64_t* places = exchange();
  std::memcpy(places + current->lane(), &value, sizeof value);
  wait_for_warp();
  return places;
}

/// The value of another lane; where there is none, its own.
template <class T>
T of_lane(unsigned mask, T value, int from) {
  const std::uint64_t* places = exchanged(mask, value);
  if (from >= 0 && from < lanes_of_warp()) std::memcpy(&value, places + from, sizeof value);
  return value;
}

/// The sum over a whole warp, by halves as exchanges with lane ^ 16, ^ 8, … take it, in one wait.
template <class T>
T sum_of_warp(T value) {
  std::uint64_t* places = exchange();
  std::memcpy(places + current->lane(), &value, sizeof value);
  if (last_of_warp()) {
    T all[lanes];
    for (int k = 0; k < lanes; ++k) std::memcpy(all + k, places + k, sizeof(T));
    for (int half = lanes / 2; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) all[k] += all[k + half];
    std::memcpy(places, all, sizeof(T));
  }
  wait_for_warp();
  std::memcpy(&value, places, sizeof value);
  return value;
}

}  // namespace sinter::kernel::emulated

#define threadIdx (sinter::kernel::emulated::current->index)
#define blockIdx (sinter::kernel::emulated::block_index)
#define blockDim (sinter::kernel::emulated::block_size)
#define gridDim (sinter::kernel::emulated::grid_size)

inline void __syncthreads() { sinter::kernel::emulated::wait_for_block(); }
inline void __syncwarp(unsigned mask = ~0u) { sinter::kernel::emulated::exchanged(mask, 0); }

template <class T>
T __shfl_sync(unsigned mask, T value, int lane) {
  return sinter::kernel::emulated::of_lane(mask, value, lane);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lanes) {
  return sinter::kernel::emulated::of_lane(mask, value,
                                           sinter::kernel::emulated::current->lane() ^ lanes);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, int lanes) {
  return sinter::kernel::emulated::of_lane(mask, value,
                                           sinter::kernel::emulated::current->lane() + lanes);
}

inline unsigned __ballot_sync(unsigned mask, bool vote) {
  const std::uint64_t* places = sinter::kernel::emulated::exchanged(mask, std::uint64_t(vote));
  unsigned votes = 0;
  for (int lane = 0; lane < sinter::kernel::emulated::lanes_of_warp(); ++lane)
    votes |= unsigned(places[lane]) << lane;
  return votes;
}
inline bool __any_sync(unsigned mask, bool vote) { return __ballot_sync(mask, vote) != 0; }
inline bool __all_sync(unsigned mask, bool vote) { return __ballot_sync(mask, !vote) == 0; }

// One thread runs at a time, so what is atomic is a plain statement.
template <class T>
T atomicAdd(T* at, std::type_identity_t<T> value) {
  const T old = *at;
  *at = old + value;
  return old;
}
template <class T>
T atomicMax(T* at, std::type_identity_t<T> value) {
  const T old = *at;
  *at = std::max(old, value);
  return old;
}

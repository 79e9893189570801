// SPDX-License-Identifier: Apache-2.0
// How kernels are launched. A stream launches a kernel directly, records the launch as a part of a
// graph, or, when that graph is about to run again, only gives the kernel the arguments of this run. All
// three are the same calls of launch() and argument().
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "hardware/cuda/argument_memory.hpp"
#include "hardware/cuda/graphs_by_shape.hpp"
#include "hardware/cuda/language.hpp"
#include "sinter/hardware/stream.hpp"

#ifdef __CUDACC__
struct cublasLtContext;
#else
#include "emulated/device/emulated_copies.hpp"
#include "emulated/device/emulated_graph.hpp"
#endif

namespace sinter::kernel {

/// An argument of a kernel that may change with each run of a graph. It travels in the launch itself, or lies
/// in the device's memory.
template <class T>
struct Argument {
  T value;
  const T* at;  ///< null in a direct launch

  __host__ __device__ const T& operator*() const { return at ? *at : value; }
  __host__ __device__ const T* operator->() const { return at ? at : &value; }
};

/// Blocks, threads of each, and bytes of shared memory of each.
struct Grid {
  dim3 blocks, threads;
  int shared_bytes = 0;
};

/// The most shared memory that a block can have on the thread's card.
int max_shared_bytes();

/// Returns the number of blocks for `count` items, `each` in a block.
inline unsigned blocks_of(std::int64_t count, int each) {
  return unsigned((count + each - 1) / each);
}

enum class Mode : std::uint8_t { direct, record, update };

#ifdef __CUDACC__
/// A graph that is ready to be launched.
struct CapturedGraph {
  cudaGraphExec_t ready = nullptr;

  CapturedGraph() = default;
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  ~CapturedGraph() {
    if (ready) cudaGraphExecDestroy(ready);
  }
};
#endif

/// A queue of launches.
struct Stream::Pool {
  static constexpr std::size_t scratch_bytes = std::size_t{512} << 10;

  Pool();
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  /// Returns an argument for the kernel that is launched next, and for no other.
  template <class T>
  Argument<T> argument(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (mode == Mode::direct) return {value, nullptr};
    return {value, reinterpret_cast<const T*>(arguments.add(&value, sizeof(T)))};
  }

  Mode mode = Mode::direct;
  ArgumentMemory arguments;      // in the run of a graph that is being made or launched
  std::byte* scratch = nullptr;  // of a contract's kernels, from one to the next
#ifdef __CUDACC__
  cudaStream_t raw = nullptr;   // where launches go
  cudaStream_t body = nullptr;  // where launches under a condition are captured
  // Copies beside the launches: their stream, what they come after, and their end.
  cudaStream_t side = nullptr;
  cudaEvent_t launched = nullptr, copied = nullptr;
  // Fetches and stores of state that lives in the memory of the host: the same of each.
  struct Lane {
    cudaStream_t raw = nullptr;
    cudaEvent_t from = nullptr, end = nullptr;
  };
  Lane fetches, stores;
  GraphsByShape<CapturedGraph> graphs;
  // cuBLASLt and what it computes in. A pool begins with both: while a graph is recorded, nobody
  // can take memory.
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
  cublasLtContext* library = nullptr;
  std::byte* workspace = nullptr;
#else
  int order = 0;  // of threads
  emulated::LateCopies copies, fetches, stores;
  GraphsByShape<emulated::LaunchGraph> graphs;
  emulated::LaunchGraph* graph = nullptr;  // the one that is being made or launched
#endif
};

#ifdef __CUDACC__
/// Ends the process with a message if the last launch was none that the card can run.
void check_launch();
#endif

/// Launches kernel<<<grid>>>(arguments…) in the order of the stream; no blocks are no launch.
template <class... P, class... A>
void launch(Stream& stream, const Grid& grid, void (*kernel)(P...), const A&... arguments) {
  Stream::Pool& device = stream.device();
  if (grid.blocks.x == 0) return;
#ifdef __CUDACC__
  if (device.mode == Mode::update) return;
  if (grid.shared_bytes > 48 << 10)
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, grid.shared_bytes);
  kernel<<<grid.blocks, grid.threads, std::size_t(grid.shared_bytes), device.raw>>>(
      P(arguments)...);
  check_launch();
#else
  const auto run = [grid, kernel, order = device.order, ... given = P(arguments)] {
    const auto call = [&] { kernel(given...); };
    emulated::run(
        grid.blocks, grid.threads, grid.shared_bytes, order,
        [](const void* f) { (*static_cast<decltype(call)*>(f))(); }, &call);
  };
  if (device.mode == Mode::direct) return run();
  emulated::Facts facts;
  for (const dim3& size : {grid.blocks, grid.threads}) facts.add(size.x, size.y, size.z);
  facts.add(grid.shared_bytes, kernel);
  facts.add(P(arguments)...);
  device.graph->pass(device.mode == Mode::record, facts, run);
#endif
}

/// The block's memory that its launch asked for.
template <class T>
__device__ __forceinline__ T* shared_memory() {
#ifdef __CUDACC__
  extern __shared__ __align__(16) unsigned char sinter_shared[];
  return reinterpret_cast<T*>(sinter_shared);
#else
  return reinterpret_cast<T*>(emulated::shared);
#endif
}

}  // namespace sinter::kernel

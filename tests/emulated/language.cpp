// SPDX-License-Identifier: Apache-2.0
// What the emulated device makes of CUDA C++, and which mistakes it shows.
#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "hardware/cuda/sums.hpp"
#include "support/ended.hpp"

using namespace sinter::kernel;
using sinter::detail::testing::ended_by;

namespace {

constexpr int threads = 256;

/// Calls body(stream) once for each order of threads.
template <class F>
void in_every_order(const F& body) {
  for (int order = 0; order < emulated::orders; ++order) {
    CAPTURE(order);
    Stream stream(order + 1);
    body(stream);
  }
}

__global__ void name_threads(int* names) {
  const int block = int(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
  const int thread = int(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
  const int size = int(blockDim.x * blockDim.y * blockDim.z);
  names[block * size + thread] += block * 1000 + thread;
}

__global__ void exchange_in_warp(int* results) {
  const int lane = int(threadIdx.x) % warp;
  int* mine = results + threadIdx.x * 7;
  mine[0] = __shfl_sync(~0u, lane * 10, 3);
  mine[1] = __shfl_xor_sync(~0u, lane * 10, 5);
  mine[2] = __shfl_down_sync(~0u, lane * 10, 4);
  mine[3] = int(__ballot_sync(~0u, lane % 3 == 0));
  mine[4] = __any_sync(~0u, lane == 31);
  mine[5] = __all_sync(~0u, lane < 31);
  __syncwarp();
  mine[6] = warp_sum(lane);
}

__global__ void count(int* sum, int* most) {
  atomicAdd(sum, int(threadIdx.x));
  atomicMax(most, int(threadIdx.x));
}

/// Each thread writes an element of shared memory and reads that of another one.
template <bool Barrier>
__global__ void reverse(const int* x, int* y) {
  int* room = shared_memory<int>();
  room[threadIdx.x] = x[threadIdx.x];
  if (Barrier) __syncthreads();
  y[threadIdx.x] = room[threads - 1 - threadIdx.x];
}

/// block_sum twice; or, without `Barrier`, what it does but for the barrier that lets all read the
/// first sum's room before the second one is written there.
template <bool Barrier>
__global__ void sum_twice(double* sums) {
  double* room = shared_memory<double>();
  const int lane = int(threadIdx.x) % warp;
  for (int k = 0; k < 2; ++k) {
    const double mine = double(threadIdx.x + 1) * (k + 1);
    double sum = 0;
    if (Barrier) {
      sum = block_sum(mine, room);
    } else {
      const double part = warp_sum(mine);
      if (lane == 0) room[threadIdx.x / warp] = part;
      __syncthreads();
      sum = warp_sum(lane < threads / warp ? room[lane] : 0);
    }
    sums[k * threads + threadIdx.x] = sum;
  }
}

__global__ void read_fresh_memory(float* y) { *y = *shared_memory<float>(); }

__global__ void wait_for_nobody() {
  if (threadIdx.x > 0) warp_sum(1);
}

__global__ void exchange_in_half_a_warp() { __shfl_sync(0xffffu, 1, 0); }

/// Whether the kernel's results are those of the first order in all others.
template <class F>
bool same_in_every_order(const F& compute) {
  using Results = decltype(compute(std::declval<Stream&>()));
  std::set<Results> results;
  in_every_order([&](Stream& stream) { results.insert(compute(stream)); });
  return results.size() == 1;
}

template <bool Barrier>
std::vector<int> reversed(Stream& stream) {
  std::vector<int> x(threads), y(threads);
  for (int i = 0; i < threads; ++i) x[i] = i + 1;
  launch(stream, {1, threads, threads * int(sizeof(int))}, reverse<Barrier>, x.data(), y.data());
  return y;
}

template <bool Barrier>
std::vector<double> summed_twice(Stream& stream) {
  std::vector<double> sums(2 * threads);
  launch(stream, {1, threads, threads / warp * int(sizeof(double))}, sum_twice<Barrier>,
         sums.data());
  return sums;
}

}  // namespace

TEST_CASE("each thread of each block runs once and knows its place") {
  in_every_order([](Stream& stream) {
    std::vector<int> names(2 * 3 * 2 * 5 * 4 * 3);
    launch(stream, {{2, 3, 2}, {5, 4, 3}}, name_threads, names.data());
    for (int i = 0; i < int(names.size()); ++i) CHECK(names[i] == i / 60 * 1000 + i % 60);
  });
}

TEST_CASE("warps exchange values and votes") {
  in_every_order([](Stream& stream) {
    std::vector<int> results(2 * warp * 7);
    launch(stream, {1, 2 * warp}, exchange_in_warp, results.data());
    for (int t = 0; t < 2 * warp; ++t) {
      const int lane = t % warp;
      const std::vector<int> got(results.begin() + t * 7, results.begin() + (t + 1) * 7);
      const int below = lane + 4 < warp ? lane + 4 : lane;
      CHECK(got == std::vector<int>{30, (lane ^ 5) * 10, below * 10, 0x49249249, 1, 0, 496});
    }
  });
}

TEST_CASE("atomic operations count all threads") {
  in_every_order([](Stream& stream) {
    int sum = 0, most = 0;
    launch(stream, {3, threads}, count, &sum, &most);
    CHECK(sum == 3 * threads * (threads - 1) / 2);
    CHECK(most == threads - 1);
  });
}

TEST_CASE("a barrier makes what others wrote visible, and its absence shows") {
  std::vector<int> want(threads);
  for (int i = 0; i < threads; ++i) want[i] = threads - i;
  in_every_order([&](Stream& stream) {
    CHECK(reversed<true>(stream) == want);
    CHECK(reversed<false>(stream) != want);
  });
}

TEST_CASE(
    "a barrier before memory is written anew, which somebody may still read, shows if absent") {
  CHECK(same_in_every_order(summed_twice<true>));
  CHECK_FALSE(same_in_every_order(summed_twice<false>));
  Stream stream(1);
  const double sum = threads * (threads + 1) / 2;
  CHECK(summed_twice<true>(stream).front() == sum);
  CHECK(summed_twice<true>(stream).back() == 2 * sum);
}

TEST_CASE("shared memory is not zero at first") {
  Stream stream(1);
  float y = 0;
  launch(stream, {1, 1, 4}, read_fresh_memory, &y);
  CHECK(std::isnan(y));
}

TEST_CASE("a wait for threads that do not come ends the process and says so") {
  const auto ended = ended_by([] {
    Stream stream(1);
    launch(stream, {1, warp}, wait_for_nobody);
  });
  CHECK(ended.signal == SIGABRT);
  CHECK(ended.error.find("a wait for threads that do not come") != std::string::npos);
}

TEST_CASE("a CUDA feature that is not emulated ends the process and says so") {
  const auto ended = ended_by([] {
    Stream stream(1);
    launch(stream, {1, warp}, exchange_in_half_a_warp);
  });
  CHECK(ended.signal == SIGABRT);
  CHECK(ended.error.find("an exchange of a part of a warp") != std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
// What the emulated device makes of tensor cores and of copies into shared memory, and which mistakes it
// shows. Which lane has which number is PTX's; this file writes it down once more.
#include "hardware/cuda/tensor_cores.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hardware/cuda/sums.hpp"
#include "support/ended.hpp"

using namespace sinter::kernel;
using sinter::BFloat16;
using sinter::detail::testing::ended_by;

namespace {

constexpr int size = 16, elements = size * size;

/// c = a b, or a bᵀ, of size × size each, by a warp.
template <bool Transposed, bool Waits>
__global__ void multiply(const BFloat16* a, const BFloat16* b, float* c) {
  BFloat16 *const left_room = shared_memory<BFloat16>(), *const right_room = left_room + elements;
  const int lane = int(threadIdx.x);
  begin_copy<16>(left_room + lane * 8, a + lane * 8, true);
  begin_copy<16>(right_room + lane * 8, b + lane * 8, true);
  end_group();
  if (Waits) wait_for_groups_but<0>();
  __syncthreads();
  Left left;
  Right right;
  load_matrices<false>(left_room + lane % 16 * size + lane / 16 * 8, left.pairs);
  if (Transposed)
    load_matrices<false>(right_room + (lane / 16 * 8 + lane % 8) * size + lane / 8 % 2 * 8,
                         right.pairs);
  else
    load_matrices<true>(right_room + lane % 16 * size + lane / 16 * 8, right.pairs);
  for (int half = 0; half < 2; ++half) {
    Sums sums{};
    multiply_add(left, right, half, sums);
    for (int k = 0; k < 4; ++k)
      c[(lane / 4 + k / 2 * 8) * size + half * 8 + lane % 4 * 2 + k % 2] = sums.x[k];
  }
}

__global__ void copy_nothing(float* to) {
  float* room = shared_memory<float>();
  begin_copy<16>(room, to, false);
  end_group();
  begin_copy<4>(room + 4, to + 4, true);
  end_group();
  wait_for_groups_but<1>();
  for (int k = 0; k < 5; ++k) to[k] = room[k];
}

__global__ void copy_from(const float* from) { begin_copy<16>(shared_memory<float>(), from, true); }

std::vector<BFloat16> integers(int seed) {
  std::vector<BFloat16> all;
  for (int i = 0; i < elements; ++i) all.push_back(BFloat16(float((i * seed + i / 7) % 17 - 8)));
  return all;
}

template <bool Transposed, bool Waits = true>
std::vector<float> product(Stream& stream) {
  const auto a = integers(3), b = integers(5);
  std::vector<float> c(elements);
  launch(stream, {1, warp, 2 * elements * int(sizeof(BFloat16))}, multiply<Transposed, Waits>,
         a.data(), b.data(), c.data());
  return c;
}

template <bool Transposed>
std::vector<float> definition() {
  const auto a = integers(3), b = integers(5);
  std::vector<float> c(elements);
  for (int i = 0; i < size; ++i)
    for (int j = 0; j < size; ++j)
      for (int k = 0; k < size; ++k)
        c[i * size + j] +=
            float(a[i * size + k]) * float(Transposed ? b[j * size + k] : b[k * size + j]);
  return c;
}

}  // namespace

TEST_CASE("a warp multiplies matrices, as they lie and transposed") {
  for (int order = 0; order < emulated::orders; ++order) {
    CAPTURE(order);
    Stream stream(order + 1);
    CHECK(product<false>(stream) == definition<false>());
    CHECK(product<true>(stream) == definition<true>());
  }
}

TEST_CASE("an asynchronous copy is visible after the wait; before, in half of the orders") {
  int late = 0, late_group = 0;
  for (int order = 0; order < emulated::orders; ++order) {
    Stream stream(order + 1);
    const std::vector<float> c = product<false, false>(stream);
    const bool none = std::ranges::all_of(c, [](float x) { return std::isnan(x); });
    CHECK((none || c == definition<false>()));
    late += none;
    std::vector<float> to(8, 1);
    launch(stream, {1, 1, 64}, copy_nothing, to.data());
    CHECK(to[0] == 0);
    CHECK(to[3] == 0);
    late_group += std::isnan(to[4]);
  }
  CHECK(late == emulated::orders / 2);
  CHECK(late_group == emulated::orders / 2);
}

TEST_CASE("tensor cores of a part of a warp, and copies that are not aligned, end the process") {
  const auto says = [](const auto& work, const char* what) {
    const auto ended = ended_by(work);
    CHECK(ended.signal == SIGABRT);
    INFO(ended.error);
    CHECK(ended.error.find(what) != std::string::npos);
  };
  says(
      [] {
        Stream stream(1);
        const auto a = integers(3);
        std::vector<float> c(elements);
        launch(stream, {1, warp / 2, 2 * elements * int(sizeof(BFloat16))}, multiply<true, true>,
               a.data(), a.data(), c.data());
      },
      "tensor cores of a part of a warp");
  says(
      [] {
        Stream stream(1);
        const std::vector<float> from(8);
        launch(stream, {1, 1, 64}, copy_from, from.data() + 1);
      },
      "a copy between places that are not aligned");
}

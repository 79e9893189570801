// SPDX-License-Identifier: Apache-2.0
// The device of recipes that name none, which the build chooses (CMake function sinter_add_recipe).
#pragma once
#include "sinter/device/cpu.hpp"
#ifdef SINTER_CUDA
#include "sinter/device/cuda.hpp"
#endif

namespace sinter {

/// The device of a recipe that names none.
#ifdef SINTER_CUDA
using DefaultDevice = Cuda<>;
#else
using DefaultDevice = Cpu;
#endif

namespace detail {
/// Refuses, at compile time, a recipe for another device than that of the binary's kernels.
template <class R>
constexpr void require_device_of_this_build() {
  constexpr bool cuda = !DefaultDevice::on_host;
  static_assert(
      cuda || R::device::on_host,
      "Sinter: a recipe for CUDA is compiled without it. What: the recipe is R in this error. Why: "
      "a binary has the kernels of one device, and this build's is the CPU. Fix: build it with "
      "./sinter build --cuda, or in CMake with sinter_add_recipe(… CUDA).");
  static_assert(
      !cuda || !R::device::on_host,
      "Sinter: a recipe for the CPU is compiled for CUDA. What: the recipe, which names Cpu, is R "
      "in "
      "this error. Why: a binary has the kernels of one device, and this build's is CUDA. Fix: "
      "leave the device out of the recipe, so that each build takes its own, or build it without "
      "CUDA.");
}
}  // namespace detail
}  // namespace sinter

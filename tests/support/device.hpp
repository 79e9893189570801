// SPDX-License-Identifier: Apache-2.0
// What tests must know of the device whose kernels they are linked with: the processor or, where
// they are compiled with SINTER_CUDA, the emulated device.
#pragma once
#include "sinter/device/default.hpp"
#ifdef SINTER_CUDA
#include "emulated/device/emulated_memory.hpp"
#endif

namespace sinter::detail::testing {

/// While one lives, a test can reach the device's memory itself, as it can without on the processor.
#ifdef SINTER_CUDA
using OpenMemory = kernel::emulated::Opened;
#else
struct OpenMemory {
  OpenMemory() {}
};
#endif

/// Whether ranks that are threads of one process can sum what is in the device's memory.
inline constexpr bool has_thread_ranks = DefaultDevice::on_host;

}  // namespace sinter::detail::testing

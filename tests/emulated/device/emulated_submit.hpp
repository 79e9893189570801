// SPDX-License-Identifier: Apache-2.0
// What the emulated device does that is no launch of a kernel: copies, and calls of libraries.
#pragma once
#include "emulated/device/emulated_memory.hpp"
#include "hardware/cuda/launch.hpp"

namespace sinter::kernel::emulated {

/// Calls work() in the order of the stream, with the device's memory opened: now, or as a node of the
/// graph, which knows it by these facts.
template <class F, class... T>
void submit(Stream& stream, const F& work, const T&... known) {
  Stream::Pool& device = stream.device();
  const auto run = [work] {
    const Opened memory;
    work();
  };
  if (device.mode == Mode::direct) return run();
  Facts facts;
  facts.add(known...);
  device.graph->pass(device.mode == Mode::record, facts, run);
}

}  // namespace sinter::kernel::emulated

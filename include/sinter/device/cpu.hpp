// SPDX-License-Identifier: Apache-2.0
// The processor as a device. This folder holds the slot `device`: where a step is computed. A policy
// in it states facts for the plan and for layers; kernels, and what is in memory.hpp, are chosen
// when the binary is linked, and a binary has those of one device.
#pragma once
#include "sinter/comm/hosts.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

/// Defined by the library that has the kernels of the CPU.
void open_cpu();

/// The processor. This is the default.
struct Cpu {
  using slot = slot::device;
  struct Options {};
  static constexpr Options options{};
  static constexpr bool on_host = true;
  static void open(const Options&) { open_cpu(); }
  /// Makes this process's end of ranks that are processes.
  static std::unique_ptr<Communicator> join(kernel::Stream&, const World& world) {
    return process_rank(world);
  }
};

}  // namespace sinter

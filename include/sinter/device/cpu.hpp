// SPDX-License-Identifier: Apache-2.0
// The CPU as a device. This folder holds the slot `device`: where a step is computed. A device
// policy states facts for the plan and for layers. Kernels, and the functions of memory.hpp, are
// chosen when the binary is linked; a binary has those of one device.
#pragma once
#include "sinter/comm/hosts.hpp"
#include "sinter/policy/concepts.hpp"

namespace sinter {

namespace detail {
/// Opens the CPU. Defined by the library that has the kernels of the CPU.
void open_cpu();
}  // namespace detail

/// The CPU. This is the default.
struct Cpu {
  using slot = slot::device;
  struct Options {};
  static constexpr Options options{};
  static constexpr bool on_host = true;
  static void open(const Options&) { detail::open_cpu(); }
  /// Makes this process's communicator, for ranks that are processes.
  static std::unique_ptr<Communicator> join(kernel::Stream&, const World& world) {
    return process_rank(world);
  }
};

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// Memory that a binary may still allocate on the host and on the device.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace sinter::detail {

/// How much memory a process may still take, and what limits it.
struct AvailableMemory {
  std::int64_t bytes;  ///< the largest number if no bound is known
  std::string bound;   ///< names the bound, as the beginning of a sentence that the number ends
};

/// The least of the machine's free memory (MemAvailable and SwapFree) and what the limits of the
/// process' control groups leave: version 2 (memory.max) and 1 (memory.limit_in_bytes). A group's
/// use counts without the cached files that it can give back. `root` stands for "/".
AvailableMemory available_memory(const std::filesystem::path& root = "/");

/// Memory that the limits of the process itself (setrlimit: RLIMIT_DATA and RLIMIT_AS) let it map.
/// An arena on the CPU is mapped as a whole, touched or not. `root` stands for "/".
AvailableMemory mappable_memory(const std::filesystem::path& root = "/");

/// Memory of the device that is free for arenas: on the CPU, available_memory().
/// requires  the calling thread has opened the device
AvailableMemory available_device_memory();

}  // namespace sinter::detail

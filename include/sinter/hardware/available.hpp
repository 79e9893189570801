// SPDX-License-Identifier: Apache-2.0
// How much memory a binary may still take, of the host and of the device.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace sinter {

/// What bounds a process' memory most.
struct AvailableMemory {
  std::int64_t bytes;  ///< the largest number if nothing is known of a bound
  std::string bound;   ///< what it is, as the beginning of a sentence that the number ends
};

/// The least of what the machine has free (MemAvailable and SwapFree) and of what the limits of the
/// control groups that the process is in leave: of version 2 (memory.max) and 1
/// (memory.limit_in_bytes), less what the group has taken, without what it keeps of files and can
/// give back. `root` stands for "/".
AvailableMemory available_memory(const std::filesystem::path& root = "/");

/// What the limits of the process itself (setrlimit: RLIMIT_DATA and RLIMIT_AS) leave it to map, which is the
/// whole of an arena on the CPU, touched or not. `root` stands for "/".
AvailableMemory mappable_memory(const std::filesystem::path& root = "/");

/// What the device has free for arenas: on the CPU, available_memory().
/// requires  the calling thread has opened the device
AvailableMemory available_device_memory();

}  // namespace sinter

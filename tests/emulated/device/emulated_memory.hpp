// SPDX-License-Identifier: Apache-2.0
// Memory of the emulated device, which the host cannot touch: it is there inside kernels and copies
// alone, and anything else that reads or writes it ends in a segmentation fault.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sinter::kernel::emulated {

/// Bytes that the device has left: of 16 GiB, or of as many as the environment's SINTER_TEST_CARD_BYTES says.
std::int64_t bytes_left();
/// Takes memory of the device, zeros; null if there is not so much.
std::byte* take(std::size_t bytes);
/// Gives it back.
void give(std::byte* at);
/// Whether there is an address in memory of the device.
bool on_device(const void* at);

/// While one lives, in any thread, the device's memory can be touched.
class Opened {
 public:
  Opened();
  ~Opened();
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
};

}  // namespace sinter::kernel::emulated

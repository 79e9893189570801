// SPDX-License-Identifier: Apache-2.0
// The device that a binary computes on, in words. Implemented in src/hardware/<device>.
#pragma once
#include <string>

namespace sinter::detail {

/// The device in words, without a line break: "AMD EPYC, AVX-512, 2 threads". `threads` is the
/// number of host threads that compute; a card does not use it.
/// requires  the calling thread has opened the device (DevicePolicy)
std::string device_text(int threads);

/// What the device is doing now, in a few words for a progress line: "41.2/79.6 GiB 98 % 612 W 64
/// °C" for a card. Empty if nothing is known, as for the CPU.
/// requires  the calling thread has opened the device
std::string device_use();

}  // namespace sinter::detail

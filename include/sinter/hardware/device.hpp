// SPDX-License-Identifier: Apache-2.0
// The device that a binary computes on, in words. Implemented in src/hardware/<device>.
#pragma once
#include <string>

namespace sinter {

/// What the device is, in a line without its end: "AMD EPYC, AVX-512, 2 threads". `threads` are
/// those of the host that compute; none do where a card does.
/// requires  the calling thread has opened the device (DevicePolicy)
std::string device_text(int threads);

/// What the device is doing at this moment, in a few words for a live line: "41.2/79.6 GiB 98 % 612 W
/// 64 °C" of a card. Empty where there is nothing to say, as of the CPU.
/// requires  the calling thread has opened the device
std::string device_use();

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// The emulated device as a card.
#include "sinter/device/available.hpp"
#include "sinter/device/card.hpp"
#include "sinter/device/device.hpp"

namespace sinter {

void open_card(int) {}
AvailableMemory available_device_memory() {
  return {std::int64_t{16} << 30, "the emulated card's memory is"};
}
std::string device_text(int) { return "a card that is emulated on the processor"; }

std::string device_use() { return ""; }

}  // namespace sinter

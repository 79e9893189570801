// SPDX-License-Identifier: Apache-2.0
// The emulated device as a card.
#include "emulated/device/emulated_memory.hpp"
#include "sinter/hardware/available.hpp"
#include "sinter/hardware/card.hpp"
#include "sinter/hardware/device.hpp"

namespace sinter::detail {

void open_card(int) {}
AvailableMemory available_device_memory() {
  return {kernel::emulated::bytes_left(), "the emulated card's free memory is"};
}
std::string device_text(int) { return "a card that is emulated on the processor"; }

std::string device_use() { return ""; }

}  // namespace sinter::detail

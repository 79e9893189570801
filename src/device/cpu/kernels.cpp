// SPDX-License-Identifier: Apache-2.0
#include "sinter/device/cpu.hpp"

namespace sinter {

void this_binary_computes_on_the_cpu() {}

}  // namespace sinter

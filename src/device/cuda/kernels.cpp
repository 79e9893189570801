// SPDX-License-Identifier: Apache-2.0
#include "sinter/device/cuda.hpp"

namespace sinter {

void this_binary_computes_with_cuda() {}

}  // namespace sinter

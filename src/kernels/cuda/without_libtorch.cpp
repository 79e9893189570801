// SPDX-License-Identifier: Apache-2.0
// A binary for a card is never linked with LibTorch, and does not look for it.
#include "sinter/kernels/matmul_rate.hpp"

namespace sinter::kernel {

bool is_linked_with_libtorch() { return false; }
void do_without_libtorch() {}

}  // namespace sinter::kernel

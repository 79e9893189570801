// SPDX-License-Identifier: Apache-2.0
// Memory outside the arena.
#pragma once
#include <cstdint>

namespace sinter::detail {

/// Peak bytes of layers that allocate memory of their own (Autograd), on all ranks together, in the
/// first step of this process; 0 before it, and without such layers. Memory that LibTorch's own
/// libraries and its other threads allocate is not included.
std::int64_t unplanned_bytes();

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Memory beside the arena.
#pragma once
#include <cstdint>

namespace sinter {

/// The most bytes that layers with memory of their own (Autograd) have held at once, on all ranks
/// together, in the first step that was taken in this process; 0 before, and without such layers.
/// What LibTorch's own libraries take for themselves, and its other threads, is not in it.
std::int64_t unplanned_bytes();

}  // namespace sinter

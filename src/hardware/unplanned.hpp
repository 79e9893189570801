// SPDX-License-Identifier: Apache-2.0
// Who tells of memory beside the arena.
#pragma once
#include <cstdint>

namespace sinter::detail {

/// Adds to what unplanned_bytes() is the largest of; negative where bytes are given back.
void count_unplanned(std::int64_t bytes);

}  // namespace sinter::detail

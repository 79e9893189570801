// SPDX-License-Identifier: Apache-2.0
// Counts memory outside the arena.
#pragma once
#include <cstdint>

namespace sinter::detail {

/// Adds bytes to the sum whose maximum unplanned_bytes() returns; negative if bytes are freed.
void count_unplanned(std::int64_t bytes);

}  // namespace sinter::detail

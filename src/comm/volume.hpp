// SPDX-License-Identifier: Apache-2.0
// Counts the bytes that have come to the ranks of this process, for tests.
#pragma once
#include <atomic>
#include <cstdint>

namespace sinter::detail {

/// The bytes that ranks of this process have read, since it began, of what others have put into memory that
/// they share: all of processes, and of threads what one sends to another. (What comes from other hosts is
/// counted by their interfaces.)
inline std::atomic<std::int64_t> bytes_from_others{0};

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Large pages of the device's memory. Implemented in src/hardware/<device>/memory.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace sinter::detail {

/// Asks for large pages for the first `whole` bytes of an arena, which will all be used, and returns
/// the arena. On the CPU such pages are read faster, and each takes its memory as a whole; where the
/// system has none to give, nothing changes. A card has large pages anyway.
/// requires  the arena was not used yet
std::span<std::byte> in_large_pages(std::span<std::byte> arena, std::int64_t whole);

}  // namespace sinter::detail

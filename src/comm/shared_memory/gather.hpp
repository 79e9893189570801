// SPDX-License-Identifier: Apache-2.0
// The meeting of the ranks of a host.
#pragma once
#include <memory>

#include "comm/shared_memory/segment.hpp"

namespace sinter::detail::shared_memory {

/// Waits until all ranks of a world have come, and returns the memory that they share. Rank 0 makes
/// it and listens on a socket in Linux's abstract namespace, whose name is the id. It is in no file
/// system, and gone when rank 0 is. The others connect, send their names and facts, and get the
/// memory's descriptor. A problem is an Error in all that have come.
std::unique_ptr<Segment> gather(const World& world, const Layout& layout);

}  // namespace sinter::detail::shared_memory

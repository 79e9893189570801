// SPDX-License-Identifier: Apache-2.0
// Carries the facts that must be equal in all ranks from one process of a host to another.
#pragma once
#include "comm/facts.hpp"
#include "comm/shared_memory/segment.hpp"

namespace sinter::detail::shared_memory {

/// Puts facts into memory that can be given to another process.
Descriptor memory_of(const std::vector<Fact>& facts);
/// Takes them from there; none if they are not what a rank of this build puts there.
std::optional<std::vector<Fact>> facts_in(const Descriptor& memory);

}  // namespace sinter::detail::shared_memory

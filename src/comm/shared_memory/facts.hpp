// SPDX-License-Identifier: Apache-2.0
// What must be the same in all ranks of a world: how it goes to rank 0, and what is told of differences.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "comm/shared_memory/segment.hpp"
#include "sinter/comm/world.hpp"

namespace sinter::shared_memory {

/// Puts facts into memory that can be given to another process, whatever their size.
Descriptor memory_of(const std::vector<Fact>& facts);
/// Takes them from there; none if they are not what a rank of this build puts there.
std::optional<std::vector<Fact>> facts_in(const Descriptor& memory);

/// A rank, its process, and what it says.
struct Witness {
  int rank, process;
  const std::vector<Fact>& facts;
};

/// Says in what two ranks differ, and what is to be done; empty if in nothing.
std::string difference(const Witness& one, const Witness& other);

}  // namespace sinter::shared_memory

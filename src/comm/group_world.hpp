// SPDX-License-Identifier: Apache-2.0
// The worlds of groups of ranks that are processes.
#pragma once
#include <map>
#include <span>
#include <vector>

#include "sinter/comm/world.hpp"

namespace sinter::detail {

/// Gives worlds to the groups that a rank is in, one after the other.
class GroupWorlds {
  std::map<std::vector<int>, int> made;  // number of groups made of these members

 public:
  /// Returns the world of the next group of these members of `whole`, in which this process is
  /// members[rank]. All of them get the same id, which no other group has. It has no facts, as they
  /// have been compared, and no meeting.
  World next(const World& whole, std::span<const int> members, int rank);
};

}  // namespace sinter::detail

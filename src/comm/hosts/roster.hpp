// SPDX-License-Identifier: Apache-2.0
// The meeting of ranks on several hosts, and what each then knows of all.
#pragma once
#include <vector>

#include "comm/hosts/socket.hpp"
#include "sinter/comm/world.hpp"

namespace sinter::detail::hosts {

/// The facts of a rank that all know.
struct Member {
  std::int32_t process = 0;
  std::string host{};     ///< its name
  std::string place{};    ///< distinguishes it from others
  std::string address{};  ///< at which others reach it; empty if it is that of rank 0
  int port = 0;           ///< at which it listens there
};

/// All ranks of a world, once they have come.
struct Roster {
  std::vector<Member> members{};
  std::string nonce{};             ///< of this world and no other, even if its id is used again
  std::vector<int> begins{};       ///< the first rank of each host, and behind the last one's all
  std::vector<Descriptor> ends{};  ///< of rank 0, to each rank; of another, to rank 0
  Descriptor listener{};           ///< of this rank, for others than rank 0

  /// "rank 1 (process 4711 on node7)"
  std::string name(int rank) const;
  int hosts() const { return int(begins.size()) - 1; }
  /// The number of a rank's host, in the order of the ranks. Ranks that are neighbours and of one
  /// place are of one host; so one machine may count as several.
  int host_of(int rank) const;
  /// At which address this rank reaches another.
  std::string address_of(int rank) const;
};

/// Waits until all ranks of a world have come to rank 0, which compares their facts. A problem is
/// an Error in all that have come.
///   door   rank 0's socket, if it listens already; else it opens the port of world.meeting
/// requires  world.meeting has an address
Roster meet(const World& world, Descriptor door = {});

}  // namespace sinter::detail::hosts

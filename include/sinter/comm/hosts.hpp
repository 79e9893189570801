// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes of several hosts, over TCP between hosts and shared memory within each.
#pragma once
#include <memory>

#include "sinter/comm/communicator.hpp"
#include "sinter/comm/world.hpp"

namespace sinter {

/// Makes the communicator of the rank world.rank, once all ranks have come to world.meeting.
/// Consecutive ranks on one host share memory. Between hosts arrays go over TCP, along the line of
/// hosts, in the order of the ranks and back. So a sum is one chain in that order, with the bits of
/// thread_ranks(). Sends, receives and exchanges between two ranks use a connection of their own.
/// Transfers run concurrently with the computation, on a thread of the rank. Another thread reports
/// to rank 0 that this rank is alive. The others notice at once when a rank has died, and within 5
/// s when it is stopped, or its host is down or cut off. All then get a RankError that names its
/// number, its process and its host.
/// requires  each rank is a process of its own, of the same build of Sinter, and hosts reach each
///           other: at the port of world.meeting, and at ports that the system chooses. There is no
///           encryption and no authentication
/// throws    ArgumentError if world.rank is not in [0, ranks), the id is empty or has more than 80
///           bytes, two facts have the same name, or world.meeting names no port of a host; Error,
///           in all ranks that have come, if one does not come in world.timeout, comes twice, or
///           differs in its world or facts, or if hosts do not reach each other; RankError if one
///           has died meanwhile
[[nodiscard]] std::unique_ptr<Communicator> hosts_rank(const World& world);

/// Makes the communicator of a rank that is a process: by shared_memory_rank() if all ranks are on
/// one host, and otherwise by hosts_rank().
[[nodiscard]] std::unique_ptr<Communicator> process_rank(const World& world);

}  // namespace sinter

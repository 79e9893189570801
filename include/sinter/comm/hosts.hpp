// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes of several hosts, over TCP between hosts and shared memory within each.
#pragma once
#include <memory>

#include "sinter/comm/communicator.hpp"
#include "sinter/comm/world.hpp"

namespace sinter {

/// Makes the end of the rank world.rank, once all ranks have come to world.meeting. Ranks that follow each
/// other and are of one host share memory; between hosts arrays go over TCP, along the line of hosts, in
/// the order of the ranks and back: a sum is one chain in that order, and has the bits of thread_ranks().
/// What one rank sends to another, or exchanges with it, goes over a connection of the two.
/// Transfers run beside the computation, on a thread of the rank. Another thread tells rank 0 that this one
/// lives. When a rank has died the others notice it at once; when it is stopped, or its host is down or cut
/// off, within 5 s; then all get a RankError that names its number, its process and its host.
/// requires  each rank is a process of its own, of the same build of Sinter, and hosts reach each other: at
///           the port of world.meeting, and at ports that the system chooses. Nothing is encrypted, and
///           nobody is asked for a password
/// throws    ArgumentError if the rank is not one of them, the id is empty or has more than 80 bytes, two
///           facts have the same name, or world.meeting names no port of a host; Error, in all ranks that
///           have come, if one does not come in world.timeout, comes twice, has another idea of the world,
///           or other facts, or if hosts do not reach each other; RankError if one has died meanwhile
[[nodiscard]] std::unique_ptr<Communicator> hosts_rank(const World& world);

/// Makes the end of a rank that is a process: shared_memory_rank() where all ranks are of one host, and
/// otherwise hosts_rank().
[[nodiscard]] std::unique_ptr<Communicator> process_rank(const World& world);

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes of one host, over memory that they share.
#pragma once
#include <memory>
#include <string>

#include "sinter/comm/communicator.hpp"
#include "sinter/comm/world.hpp"

namespace sinter {

namespace kernel {
class Stream;
}

/// Makes a unique id for a new world. The process that makes it may end before the ranks come.
[[nodiscard]] std::string shared_memory_world_id();

/// Makes the communicator of the rank world.rank, once all ranks have come. Transfers run
/// concurrently with the computation, on a thread of the rank, through a buffer of a few MiB, with
/// the bits of thread_ranks(). Sends from one rank to another go through a buffer of the two.
/// Nothing has a name in a file system, so nothing is left behind however ranks end. The others
/// notice a rank that has died within a second of waiting for it, and one that is stopped (SIGSTOP,
/// Ctrl-Z) after 3.5 s. They get a RankError that names its number, its process and its host. If
/// all ranks are stopped and continue together, none notices it.
/// requires  the ranks are processes (or threads) of one user in the same network and process
///           namespaces, such as those of one container; each has the same build of Sinter
/// throws    ArgumentError if world.rank is not in [0, ranks), the id is empty although there are
///           several ranks, or has more than 80 bytes, or two facts have the same name; Error, in
///           all ranks that have come, if one does not come in world.timeout, has died, comes
///           twice, or differs in its world or facts, or if the system refuses memory. A rank that
///           ends before it comes, such as by an error in its options, counts as one that does not
///           come: the others wait for world.timeout, unless a launcher ends them
[[nodiscard]] std::unique_ptr<Communicator> shared_memory_rank(const World& world);

}  // namespace sinter

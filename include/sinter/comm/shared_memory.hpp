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

/// Makes the id of a new world, which no other has. Whoever makes it need not live on.
[[nodiscard]] std::string shared_memory_world_id();

/// Makes the end of the rank world.rank, once all ranks have come. Its transfers run beside the
/// computation, on a thread of the rank, through a buffer of a few MiB, and have the bits of
/// thread_ranks(); what goes from one rank to another goes through a buffer of the two. Nothing
/// has a name in a file system, so that nothing is left behind however ranks end. When one has died, the
/// others notice it within a second of waiting for it, when it is stopped (SIGSTOP, Ctrl-Z) after 3.5 s, and
/// get a RankError that names its number, its process and its host. Ranks that are all stopped, and go on
/// together, notice nothing.
/// requires  the ranks are processes (or threads) of one user in the same network and process
///           namespaces, such as those of one container; each has the same build of Sinter
/// throws    ArgumentError if the rank is not one of them, or the id is empty where there are several, or
///           has more than 80 bytes, or two facts have the same name; Error, in all ranks that have
///           come, if one does not come in world.timeout, has died, comes twice, has another idea of the
///           world, or other facts, or if the system refuses memory. A rank that ends before it has
///           come, such as by an error in its options, is one that does not come: the others wait for
///           world.timeout, unless a launcher ends them
[[nodiscard]] std::unique_ptr<Communicator> shared_memory_rank(const World& world);

}  // namespace sinter

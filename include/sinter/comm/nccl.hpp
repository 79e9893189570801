// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes with a card each, over NVIDIA's NCCL. Only in binaries for a card.
#pragma once
#include <memory>

#include "sinter/comm/communicator.hpp"
#include "sinter/comm/world.hpp"

namespace sinter {

namespace kernel {
class Stream;
}

/// Makes the communicator of the rank world.rank, once all ranks have come. They meet as ranks on
/// the CPU do (process_rank()), and the first makes the id by which NCCL finds the cards. When a
/// rank has died, is stopped or cut off, or cannot go on, the others end within 5 s, as their cards
/// would wait for ever. Their exit code is 1, and a message names the rank. Transfers run on the
/// card, concurrently with the stream: a transfer begins after the work before it in the stream,
/// and work after wait() begins after the transfer. Launch graphs include transfers. Sums are
/// NCCL's: each rank gets the same bits, which each run repeats with the same version, cards and
/// settings of NCCL. Their order is not that of the ranks, and narrow types round each partial sum.
/// A group of sends and receives runs as one, after the work before the last of them. The first
/// all-to-all of an array allocates as much memory on the card again, unless there was a larger
/// one. Groups are made by ncclCommSplit; NCCL's rules for several communicators at once apply to
/// them, too.
/// requires  the calling thread has opened a card that no other rank has; the stream outlives the
///           result
/// throws    as process_rank(); Error if NCCL cannot connect the ranks, or was not there when the
///           binary was built
[[nodiscard]] std::unique_ptr<Communicator> nccl_rank(kernel::Stream& stream, const World& world);

}  // namespace sinter

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

/// Makes the end of the rank world.rank, once all ranks have come. They meet as ranks on the CPU do
/// (process_rank()), and the first makes the id by which NCCL finds the cards. When a rank has died, is
/// stopped or cut off, or cannot go on, the others end within 5 s, with the code 1 and a message that names it:
/// what their cards wait for will not come. Its transfers run on the card beside
/// the stream: started in the order of the stream, they begin when what came before is done, and what
/// comes after wait() begins when they are done. In a launch graph they are a part of it. Sums are
/// NCCL's: each rank gets the same bits, and with the same version, cards and settings of NCCL the same
/// in each run; the order is not that of the ranks, and narrow types round each partial sum. Sends and
/// receives that are a group run as one, once what came before the last of them is done. The first
/// all-to-all of an array takes as much memory on the card again, unless there was a larger one. Groups are
/// made by ncclCommSplit; what NCCL says of several communicators at once holds for them, too.
/// requires  the calling thread has opened a card that no other rank has; the stream outlives the end
/// throws    as process_rank(); Error if NCCL cannot connect the ranks, or was not there when the binary
///           was built
[[nodiscard]] std::unique_ptr<Communicator> nccl_rank(kernel::Stream& stream, const World& world);

}  // namespace sinter

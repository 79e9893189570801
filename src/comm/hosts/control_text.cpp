// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "comm/hosts/control.hpp"
#include "comm/transfer_text.hpp"

namespace sinter::detail::hosts {

std::string Control::text() const {
  const std::string self = "rank " + std::to_string(me) + " of " + std::to_string(ranks);
  const auto name = [&](int rank) {
    return rank < 0 || rank >= ranks ? "a rank" : roster.name(rank);
  };
  const std::string other = name(failure.rank), stops = self + " cannot go on: " + other;
  const std::string again =
      " Start all ranks again; what was computed since the last checkpoint is lost.";
  switch (failure.kind) {
    case Failure::died:
      return stops + " has died." + again;
    case Failure::silent:
      return stops + " has given no sign of life for " + shared_memory::seconds(silence) +
             ": it is stopped, its host is down, or the network to it is cut." + again;
    case Failure::stalled:
      return stops + " lives, but has not taken part in a transfer for " +
             shared_memory::seconds(patience) +
             ". Is it stopped, or at work on something that the others are not?" + again;
    case Failure::unheard:
    case Failure::severed:
      return stops + " lives, but nothing of it has come to " + name(failure.other) + " for " +
             shared_memory::seconds(failure.kind == Failure::severed ? silence : patience) +
             ". Is the network between their hosts cut?" + again;
    case Failure::absent:
      return stops + " lives, but has not sent to " + name(failure.other) +
             " what that awaits, or not received from it, for " + shared_memory::seconds(patience) +
             ". Is it stopped, or at work on something that the others are not?" + again;
    case Failure::cut_off:
      return stops + " lives, but " + name(failure.other) +
             " cannot connect with it. The hosts of ranks that send to each other must reach each "
             "other, at ports that the system chooses." +
             again;
    case Failure::unmatched:
      return self + " cannot go on: " +
             mismatch_text(failure.wrong, name(failure.wrong.sender), name(failure.wrong.receiver));
    case Failure::differs: {
      const Work& work = failure.work;
      const int operation = std::clamp(work.operation, 0, int(std::size(operation_names)) - 1);
      return stops + " is at another transfer than others, " +
             transfer_text(Operation(operation), work.peer, work.count, work.bytes) +
             ". All ranks must take the same steps, of the same recipe, on the same batches.";
    }
    case Failure::left:
    case Failure::none:
      break;
  }
  return self + " waits for ranks that have stopped: " + other + ". Its own error says why.";
}

}  // namespace sinter::detail::hosts

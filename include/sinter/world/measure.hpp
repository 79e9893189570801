// SPDX-License-Identifier: Apache-2.0
// What costs of a forecast are on this machine.
#pragma once
#include <string>

#include "sinter/world/away.hpp"
#include "sinter/world/costs.hpp"

namespace sinter {

class Communicator;
namespace kernel {
class Stream;
}

/// What a link costs, from sums over two ranks: of one number the median of 200, and of 16 MiB that of 5.
/// Both ranks call it at the same time, and get what they have measured themselves.
/// requires  end.ranks() == 2
/// throws    RankError if the other rank has failed
[[nodiscard]] LinkCost measured_link(Communicator& end);

/// The same of two threads of this process, over the memory that processes of a host share.
/// throws    Error if the system refuses memory or threads
[[nodiscard]] LinkCost measured_link_of_this_host();

/// Bytes a second that are read and written, as an array that no cache holds is copied on the stream's
/// threads. Takes about `seconds`, or six copies where those take longer.
/// throws    Error if the device does not have the memory
[[nodiscard]] double measured_memory_rate(kernel::Stream& stream, double seconds = 0.05);

/// What it costs to move bytes to a file of 64 MiB in this folder and back, as a step moves them, by the same
/// threads (AwayMemory): each way alone, and both beside each other. So the system may keep the file in
/// memory, as it does in a run where memory is free. Takes at most about four times `seconds`. What it takes
/// from computing is not measured.
///   folder   see AwayMemory
/// throws    FileError as AwayMemory::open() does, or if reading or writing fails
[[nodiscard]] AwayCost measured_away_cost(kernel::Stream& stream, const std::string& folder,
                                          double seconds = 0.1);

}  // namespace sinter

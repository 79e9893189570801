// SPDX-License-Identifier: Apache-2.0
// Measures the costs of a forecast on this machine.
#pragma once
#include <string>

#include "sinter/forecast/costs.hpp"
#include "sinter/forecast/offload.hpp"

namespace sinter {

class Communicator;
namespace kernel {
class Stream;
}

namespace detail {
/// Returns the cost of a link, from sums over two ranks: the median of 200 sums of one number, and
/// of 5 of 16 MiB. Both ranks call it at the same time, and each gets its own measurement.
/// requires  end.ranks() == 2
/// throws    RankError if the other rank has failed
[[nodiscard]] LinkCost measured_link(Communicator& end);

/// Returns the cost of a link between two threads of this process, through memory as ranks share
/// it.
/// throws    Error if the system refuses memory or threads
[[nodiscard]] LinkCost measured_link_of_this_host();

/// Returns bytes per second that are read and written by the stream's threads, as they copy an
/// array too large for caches. Takes about `seconds`, or six copies if those take longer.
/// throws    Error if the device does not have the memory
[[nodiscard]] double measured_memory_rate(kernel::Stream& stream, double seconds = 0.05);

/// Returns the cost of moving bytes to and from a file of 64 MiB in this folder, with a step's
/// threads (OffloadMemory): each direction by itself, and both at the same time. The system may
/// cache the file in memory, as in a run with free memory. Takes at most about four times
/// `seconds`. The cost to computation is not measured.
///   folder   as for OffloadMemory
/// throws    FileError as OffloadMemory::open() does, or if reading or writing fails
[[nodiscard]] OffloadCost measured_offload_cost(kernel::Stream& stream, const std::string& folder,
                                                double seconds = 0.1);
}  // namespace detail

}  // namespace sinter

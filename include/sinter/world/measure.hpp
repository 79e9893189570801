// SPDX-License-Identifier: Apache-2.0
// What costs of a forecast are on this machine.
#pragma once
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

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// How many launch graphs there were on the emulated device, for tests.
#pragma once

namespace sinter::kernel::emulated {

/// What this thread's streams have done with graphs so far.
struct GraphCounts {
  int recorded = 0;  ///< graphs that were recorded, to be launched
  int launched = 0;  ///< launches of graphs
  bool operator==(const GraphCounts&) const = default;
};
extern thread_local GraphCounts graph_counts;

}  // namespace sinter::kernel::emulated

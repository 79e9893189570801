// SPDX-License-Identifier: Apache-2.0
// Which rank a process is, where ranks are processes.
#pragma once
#include <string>

namespace sinter {

/// The ranks of a run that are processes: of one host, or each with a card of its own.
struct World {
  int rank = 0;   ///< the number of this one, from 0
  int ranks = 1;  ///< how many there are
  /// By what they find each other: on the CPU shared_memory_world_id(), on cards nccl_world_id() of
  /// one of them, which gives it to all. It may be empty if there is one.
  std::string id;
};

}  // namespace sinter

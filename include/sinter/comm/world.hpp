// SPDX-License-Identifier: Apache-2.0
// Which rank a process is, where ranks are processes.
#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace sinter {

/// What must be the same in all ranks, such as {"seed", "42"}.
struct Fact {
  std::string name;   ///< as users know it; no two facts of a rank have the same
  std::string value;  ///< of any length
};

/// The ranks of a run that are processes: of one host, or each with a card of its own.
struct World {
  int rank = 0;   ///< the number of this one, from 0
  int ranks = 1;  ///< how many there are
  /// By what they find each other: on the CPU shared_memory_world_id(), on cards nccl_world_id() of
  /// one of them, which gives it to all. It may be empty if there is one.
  std::string id{};
  /// How long a rank waits until all have come, and then for one that lives, but does not take part in
  /// a sum: it is stopped, or hangs, or computes something that the others do not. NCCL has limits of
  /// its own.
  std::chrono::milliseconds timeout{300'000};
  /// What ranks over shared memory compare when they come: binary, recipe, options, data. If they
  /// differ in any, none begins.
  std::vector<Fact> facts{};
};

}  // namespace sinter

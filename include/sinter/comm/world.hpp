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

/// Where ranks of several hosts find each other.
struct Meeting {
  std::string address{};  ///< a host's name or number; empty where all ranks are of one host
  int port = 0;           ///< there
  /// Whether torchrun's agent answers there and tells where rank 0 is (TORCHELASTIC_USE_AGENT_STORE).
  /// Otherwise rank 0 does, as it is on that host.
  bool has_store = false;
};

/// The ranks of a run that are processes: of one host or of several, or each with a card of its own.
struct World {
  int rank = 0;   ///< the number of this one, from 0
  int ranks = 1;  ///< how many there are
  /// By what they know each other, such as shared_memory_world_id() of one of them, which gives it to all.
  /// It may be empty if there is one.
  std::string id{};
  /// How long a rank waits until all have come, and then for one that lives, but does not take part in
  /// a sum: it hangs, or computes something that the others do not. (One that is stopped is given up
  /// sooner.) On cards only the first: there NCCL has limits of its own.
  std::chrono::milliseconds timeout{300'000};
  /// What ranks compare when they come: binary, recipe, options, data. If they differ in
  /// any, none begins.
  std::vector<Fact> facts{};
  /// Where they find each other if they are of several hosts.
  Meeting meeting{};
  /// What tells the host of this rank from others, and is its name in messages. If it is empty, the
  /// system's own identity and name are taken. Ranks of one host share memory.
  std::string host{};
  /// The number of this rank among those of its host, and how many those are, which share its processors.
  /// Where that is 0, all ranks are of one host.
  int rank_here = 0, ranks_here = 0;
};

}  // namespace sinter

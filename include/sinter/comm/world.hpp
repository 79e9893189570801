// SPDX-License-Identifier: Apache-2.0
// The rank of a process, where ranks are processes.
#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace sinter {

namespace detail {
/// A fact that must be equal in all ranks, such as {"seed", "42"}.
struct Fact {
  std::string name;   ///< as users know it; unique among the facts of a rank
  std::string value;  ///< a text of any length
};

/// The address at which ranks on several hosts find each other.
struct Meeting {
  std::string address{};  ///< a host's name or number; empty if all ranks are on one host
  int port = 0;           ///< port of that host
  /// True if torchrun's agent listens at the port and gives the address of rank 0
  /// (TORCHELASTIC_USE_AGENT_STORE). If false, rank 0 listens there, as it is on that host.
  bool has_store = false;
};
}  // namespace detail

/// The ranks of a run that are processes: on one host or several, or each with a card of its own.
struct World {
  int rank = 0;   ///< number of this rank, from 0
  int ranks = 1;  ///< number of ranks
  /// Identifies the world in all ranks, such as shared_memory_world_id() of one rank, which passes
  /// it to the others. It may be empty if there is one rank.
  std::string id{};
  /// How long a rank waits until all have come, and later for a rank that is alive, but does not
  /// take part in a sum, as it hangs or computes something else. (A stopped rank is given up
  /// sooner.) On cards it limits only the first wait, as NCCL has limits of its own.
  std::chrono::milliseconds timeout{300'000};
  /// Facts that ranks compare when they come: binary, recipe, options, data. If one differs, no
  /// rank begins.
  std::vector<detail::Fact> facts{};
  /// Where ranks on several hosts find each other.
  detail::Meeting meeting{};
  /// Identifies this rank's host, and names it in messages. If it is empty, the system's own
  /// identity and name are used. Ranks on one host share memory.
  std::string host{};
  /// The number of this rank among the ranks on its host, and the number of these ranks, which
  /// share the host's processors. If ranks_here is 0, all ranks are on one host.
  int rank_here = 0, ranks_here = 0;
};

}  // namespace sinter

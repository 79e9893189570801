// SPDX-License-Identifier: Apache-2.0
// The processes of the ranks, in a process group of their own.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "launch/signals.hpp"
#include "sinter/files/io.hpp"  // Descriptor

namespace sinter::detail::launch {

/// The environment and the descriptors that a rank gets.
struct RankStart {
  std::string program;               ///< a path
  std::vector<std::string> command;  ///< its arguments, from argv[0]
  int rank = 0, ranks = 1;
  std::string world;
  int output = 1, error = 2;  ///< descriptors that become its standard output and error
};

/// A process group that does not outlive the launcher. A process of the launcher, the keeper, leads
/// it, and kills the whole group as soon as the launcher is gone, for any reason. The system then
/// also kills the ranks, even if the keeper was killed. Processes that ranks have started belong to
/// the group, unless they have left it (setsid). From the first group on, the launcher becomes the
/// parent of processes that ranks leave behind.
class RankGroup {
  pid_t keeper = 0;
  Descriptor held;  // open as long as the group may live
  Descriptor null;
  bool keeper_moved = false;

 public:
  /// requires  there is a Signals
  /// throws    Error if the system gives no process or descriptor
  RankGroup();
  /// Kills the remaining processes of the group.
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  /// Starts a rank, whose standard input is empty, and returns when it runs its program.
  /// throws    Error if the system refuses it
  pid_t start(const RankStart& rank, const Signals& signals);
  /// Sends a signal to all processes of the group.
  void signal(int number);
  /// True if no process is left in the group. Processes that have ended, but whose status was not
  /// collected, are still in it.
  /// requires  all ranks have ended
  bool is_empty();
};

}  // namespace sinter::detail::launch

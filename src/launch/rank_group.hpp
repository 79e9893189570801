// SPDX-License-Identifier: Apache-2.0
// The processes of the ranks, in a process group of their own.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "launch/signals.hpp"
#include "sinter/files/io.hpp"  // Descriptor

namespace sinter::detail::launch {

/// What a rank is told and given.
struct RankStart {
  std::string program;               ///< a path
  std::vector<std::string> command;  ///< its arguments, from argv[0]
  int rank = 0, ranks = 1;
  std::string world;
  int output = 1, error = 2;  ///< descriptors that become its standard output and error
};

/// A process group that does not outlive the launcher. A process of the launcher, the keeper, leads
/// it, and kills the whole group as soon as the launcher is gone, however that happened. The system
/// kills the ranks then, too, also where somebody has killed the keeper. What ranks have started
/// belongs to the group, unless it has left it (setsid). From the first group on, the launcher
/// becomes the parent of what ranks leave behind.
class RankGroup {
  pid_t keeper = 0;
  Descriptor held;  // open as long as the group may live
  Descriptor null;
  bool keeper_moved = false;

 public:
  /// requires  there is a Signals
  /// throws    Error if the system gives no process or descriptor
  RankGroup();
  /// Kills what is left of the group.
  ~RankGroup();
  RankGroup(const RankGroup&) = delete;
  RankGroup& operator=(const RankGroup&) = delete;

  /// Starts a rank, whose standard input is empty, and returns when it runs its program.
  /// throws    Error if the system refuses it
  pid_t start(const RankStart& rank, const Signals& signals);
  /// Sends a signal to all processes of the group.
  void signal(int number);
  /// Whether no process is left in the group. Those that have ended, but whose status nobody has
  /// asked for, are in it.
  /// requires  all ranks have ended
  bool is_empty();
};

}  // namespace sinter::detail::launch

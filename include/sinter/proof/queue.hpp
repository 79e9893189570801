// SPDX-License-Identifier: Apache-2.0
// The transfers that a rank has started, in a simulation of all ranks.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace sinter::detail {

/// The timing of a simulation that only checks whether ranks fit together. Simulation describes the
/// members that the timing of a timed one has.
struct Untimed {
  static constexpr bool timed = false;  ///< nothing takes time
};

/// The time that a rank takes, in seconds.
struct RankTime {
  double end = 0;      ///< time until it reaches the end of its program
  double exposed = 0;  ///< part of `end` in which communication keeps it from computing
  double late = 0;     ///< part of `exposed` in which it waits for the slowest rank to start
};

/// The times of a transfer in a timed simulation, in seconds.
struct TransferTimes {
  double since = 0;  ///< when this rank has started it
  double ready = 0;  ///< when all its ranks have started it
  double end = 0;    ///< when it is complete
};

/// The transfers that a rank has started on one communicator, in order, and in groups. A group is
/// one transfer of all ranks, or consecutive sends and receives with no wait between them. The next
/// group runs when it is closed.
struct TransferQueue {
  std::vector<int> started;          ///< numbers of the events that start the transfers
  std::vector<int> groups;           ///< group of each transfer
  std::vector<char> done;            ///< by transfer: true if it has run
  std::vector<char> awaited;         ///< by transfer: true if the rank has waited for it
  std::vector<TransferTimes> times;  ///< by transfer, in a timed simulation
  std::size_t run = 0;               ///< first transfer of the next group; all before have run
  std::size_t unawaited = 0;         ///< first transfer that is not awaited
  int group = 0;                     ///< group of the next transfer that is started
  bool meets = false;                ///< true if the next transfer to run is of all ranks
  double before = 0;                 ///< when the groups before the next one are complete
  double sends = 0;                  ///< when the rank's last send ends
  double receives = 0;               ///< when the rank's last receive ends

  /// Appends a transfer, by the number of the event that starts it.
  constexpr void start(int event, bool between_two) {
    if (!between_two && is_open()) ++group;
    started.push_back(event);
    groups.push_back(group);
    done.push_back(false);
    awaited.push_back(false);
  }
  /// True if the last group may still grow.
  constexpr bool is_open() const { return !groups.empty() && groups.back() == group; }
  /// End of the next group if that is closed; otherwise the start of that group.
  constexpr std::size_t closed_end() const {
    if (run == groups.size() || groups[run] == group) return run;
    return end(run);
  }
  /// End of the group of transfer k.
  constexpr std::size_t end(std::size_t k) const {
    const int of = groups[k];
    while (k < groups.size() && groups[k] == of) ++k;
    return k;
  }
  /// Index of the first transfer that has not run; the end of the queue if all have.
  constexpr std::size_t first() const {
    std::size_t k = run;
    while (k < done.size() && done[k]) ++k;
    return k;
  }
  /// Advances `run` over groups that have run.
  constexpr void pass() {
    for (std::size_t end = closed_end(); end > run && first() >= end; end = closed_end()) {
      if (!times.empty())
        for (; run < end; ++run) before = std::max(before, times[run].end);
      run = end;
    }
  }
  /// The latest times in the group of transfer k.
  constexpr TransferTimes times_of_group(std::size_t k) const {
    TransferTimes all;
    while (k > 0 && groups[k - 1] == groups[k]) --k;
    for (const std::size_t behind = end(k); k < behind; ++k) {
      all.ready = std::max(all.ready, times[k].ready);
      all.end = std::max(all.end, times[k].end);
    }
    return all;
  }
};

}  // namespace sinter::detail

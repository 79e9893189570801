// SPDX-License-Identifier: Apache-2.0
// What a rank has started, in a simulation of all ranks.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace sinter {

/// The timing of a simulation that asks only whether ranks fit together. Simulation says what that of one
/// has which also asks how long they take.
struct Untimed {
  static constexpr bool timed = false;  ///< nothing takes time
};

/// How long a rank takes, in seconds.
struct RankTime {
  double end = 0;      ///< until it has come to its end
  double exposed = 0;  ///< of that, in which it does not compute, for communication
  double late = 0;     ///< of that, until the slowest rank has come
};

/// When a transfer of a timed simulation runs, in seconds.
struct TransferTimes {
  double since = 0;  ///< when this rank has started it
  double ready = 0;  ///< when all its ranks have
  double end = 0;    ///< when it has come
};

/// What a rank has started on one communicator, in order, and in groups: sends and receives that follow each
/// other, with no wait between, or one transfer of all ranks. The group that is the next one runs when it is
/// closed.
struct TransferQueue {
  std::vector<int> started;          ///< numbers of events
  std::vector<int> groups;           ///< of these
  std::vector<char> done;            ///< whether it has run
  std::vector<char> awaited;         ///< whether the rank has waited for it
  std::vector<TransferTimes> times;  ///< of a timed simulation
  std::size_t run = 0;               ///< the first of the next group; all before have run
  std::size_t unawaited = 0;         ///< the first that is not awaited
  int group = 0;                     ///< of what is started next, if it is between two
  bool meets = false;                ///< the next one is of all ranks
  double before = 0;                 ///< when the groups before have come
  double sends = 0;                  ///< until when the rank sends
  double receives = 0;               ///< until when it receives

  /// Starts a transfer.
  constexpr void start(int event, bool between_two) {
    if (!between_two && is_open()) ++group;
    started.push_back(event);
    groups.push_back(group);
    done.push_back(false);
    awaited.push_back(false);
  }
  /// Whether the last group may become larger.
  constexpr bool is_open() const { return !groups.empty() && groups.back() == group; }
  /// Behind the group that is next, if it is closed, and otherwise before it.
  constexpr std::size_t closed_end() const {
    if (run == groups.size() || groups[run] == group) return run;
    return end(run);
  }
  /// Behind the group of one.
  constexpr std::size_t end(std::size_t k) const {
    const int of = groups[k];
    while (k < groups.size() && groups[k] == of) ++k;
    return k;
  }
  /// Where the next one is that has not run; the end if there is none.
  constexpr std::size_t first() const {
    std::size_t k = run;
    while (k < done.size() && done[k]) ++k;
    return k;
  }
  /// Passes over groups that have run.
  constexpr void pass() {
    for (std::size_t end = closed_end(); end > run && first() >= end; end = closed_end()) {
      if (!times.empty())
        for (; run < end; ++run) before = std::max(before, times[run].end);
      run = end;
    }
  }
  /// The latest times of the group of one.
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

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// What ranks of several hosts say to rank 0, and it to them: that they live, few values that are summed,
// and why they cannot go on.
#pragma once
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/exchange.hpp"
#include "comm/hosts/roster.hpp"
#include "sinter/comm/communicator.hpp"

namespace sinter::detail::hosts {

/// What a rank does with others: a transfer, or a sum of few values.
struct Work {
  std::int64_t count = 0;  ///< of elements
  std::int32_t bytes = 0;  ///< of one
  std::int32_t peer = -1;  ///< the root; -1 if there is none
  std::int32_t operation = 0;
  std::int32_t unused = 0;  // so that no byte of it is without a value
  bool operator==(const Work&) const = default;
};

/// Why the ranks cannot go on. The first reason stays.
struct Failure {
  enum Kind : std::int32_t {
    none,
    died,     ///< its connection ended, and it had not said that it leaves
    silent,   ///< no sign of life
    stalled,  ///< lives, but has not begun what others wait for
    unheard,  ///< lives and has begun it, but nothing of it comes to `other`
    absent,   ///< lives, but has not begun to send to `other`, or to receive from it
    severed,  ///< lives, but its host has not answered that of `other`, over their connection, for some seconds
    cut_off,    ///< lives, but `other` cannot connect with it
    differs,    ///< does its `work`, and others something else
    unmatched,  ///< has sent to `other` what that does not receive, see `wrong`
    left        ///< has said that it leaves; what others do without it they may end
  };
  Kind kind = none;
  std::int32_t rank = 0, other = 0;
  Work work{};
  Mismatch wrong{};
};

/// One rank's end of the control connection, with a thread that listens. Each rank reports to rank
/// 0 twice a second that it lives, and rank 0 to each. A rank that is silent for some seconds is
/// lost for all: rank 0 reports it, or the others see that rank 0 is lost. If two hosts that both
/// reach rank 0 are cut off from each other, their ranks notice it when they wait.
class Control {
 public:
  static constexpr std::chrono::milliseconds beat{500}, silence{3500};

  /// requires  the roster outlives it
  Control(const Roster& all, int rank, std::chrono::milliseconds timeout);
  /// Says that this rank leaves.
  ~Control();
  Control(const Control&) = delete;

  /// Counts a transfer that this rank begins.
  void begin() { begun.fetch_add(1, std::memory_order_relaxed); }
  /// Replaces values by their sums over the ranks, in the order of the ranks.
  /// throws    RankError if there is no sum
  void sum(double* values, int count);

  /// True if a thread that last saw progress at this time should stop waiting.
  bool is_hopeless(Time last_progress) const {
    const auto now = Failure::Kind(kind.load());
    return now != Failure::none &&
           (now != Failure::left || Clock::now() - last_progress > std::chrono::seconds(1));
  }
  /// Tells all ranks that they cannot go on, unless they know of a reason.
  void report(const Failure& failure);
  /// Likewise: this one leaves.
  void leave() noexcept;
  /// Throws the RankError that says why this rank cannot go on, once it is known.
  [[noreturn]] void throw_failure();

 private:
  struct Message;
  struct Peer {  // the other end of a connection
    std::array<char, 512> room{};
    std::size_t filled = 0;
    Time heard{};
    bool gone = false, left = false;
    std::int64_t begun = 0;  // what it has said that it has
  };
  struct Gathering {  // the sum that is at work, at rank 0
    std::int64_t number = 0;
    int come = 0;
    std::vector<std::array<double, Communicator::max_values>> values{};
    std::vector<int> counts{};  // 0: has not come
  };

  const Roster& roster;
  const int me, ranks;
  const std::chrono::milliseconds patience;
  std::atomic<std::int64_t> begun{0};
  std::atomic<int> kind{Failure::none};
  std::atomic<bool> ends{false};
  mutable std::mutex mutex;  // of all that follows
  std::condition_variable changed;
  Failure failure{};
  std::vector<Peer> peers;  // as roster.ends
  Gathering gathering{};
  Failure suspected{};  // at rank 0: that a connection is severed, and since when
  Time suspected_at{};
  std::int64_t sums = 0;  // that this rank has begun
  std::int64_t summed = 0;
  std::array<double, Communicator::max_values> totals{};
  bool has_left = false;
  std::thread listener;

  bool is_hub() const { return me == 0; }
  int rank_of(std::size_t peer) const { return is_hub() ? int(peer) : 0; }
  bool is_there(std::size_t peer) const { return roster.ends[peer].get() >= 0; }
  void listen();
  void read(std::size_t peer);
  void take(std::size_t peer, const Message& message);
  void look_around(Time& next_beat);
  void send(std::size_t peer, const Message& message);
  void send_to_all(const Message& message);
  void add(int rank, std::int64_t number, int count, const double* values);
  void decide_on_report(const Failure& why);
  void decide(Failure why);
  bool is_heard_since(Time time, int rank) const;
  void note(const Failure& why);
  std::string text() const;
};

}  // namespace sinter::detail::hosts

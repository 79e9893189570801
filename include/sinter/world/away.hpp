// SPDX-License-Identifier: Apache-2.0
// What it costs a rank to move what lives outside of the device's memory (Offload): which instructions fetch
// and store it, how many bytes, and how long they wait for it.
#pragma once
#include <algorithm>
#include <vector>

#include "sinter/plan/plan_view.hpp"

namespace sinter {

/// What it costs to move bytes between the device's memory and what is outside of it.
struct AwayCost {
  double fetch = 0;  ///< bytes a second that come, while none go
  double store = 0;  ///< bytes a second that go, while none come
  /// The part of its rate that each direction has while bytes move in the other, too: 1 where they share
  /// nothing, 1/2 where they share one rate.
  double beside = 1;
  /// The part of a transfer's time in which the rank cannot compute: 0 where transfers run beside the
  /// computation, 1 where they take its processor.
  double taken = 0;
};

/// What an instruction does with what lives outside of the device's memory: it waits, and then starts.
struct AwayStep {
  bool awaits_fetches = false;     ///< all that were started
  bool awaits_stores = false;      ///< all that were started
  double fetched = 0, stored = 0;  ///< bytes of a rank, which starts to move them
  /// Whether it does anything.
  constexpr bool any() const {
    return awaits_fetches || awaits_stores || fetched > 0 || stored > 0;
  }
};

/// What the instructions of the program of training do with it, by what their kinds touch of spaces that live
/// there (Model::is_away).
[[nodiscard]] std::vector<AwayStep> away_steps(const PlanView& plan);

/// The transfers of a rank, as AwayMemory runs them: fetches in their order, and stores in theirs, beside each
/// other and beside what the rank computes.
class AwayQueues {
 public:
  /// requires  rates above 0, if anything is moved
  explicit constexpr AwayQueues(const AwayCost& cost) : cost_(cost) {}

  /// Does what an instruction does, at a time that is not before the last. Returns the time at which the
  /// rank goes on.
  constexpr double run(const AwayStep& step, double time) {
    if (step.awaits_fetches) time = wait(fetches_, stores_, time);
    if (step.awaits_stores) time = wait(stores_, fetches_, time);
    move_until(time);
    if (step.fetched > 0) fetches_.add(step.fetched / cost_.fetch);
    if (step.stored > 0) stores_.add(step.stored / cost_.store);
    return time;
  }

 private:
  /// Transfers of one direction, in the seconds that they take alone.
  struct Queue {
    double left = 0;     // of what has not moved
    double awaited = 0;  // of what was started since the last wait
    constexpr void add(double seconds) {
      left += seconds;
      awaited += seconds;
    }
  };

  constexpr double wait(Queue& queue, const Queue& other, double time) {
    move_until(time);
    const double beside = std::min(queue.left, other.left);
    const double ends = now_ + beside / cost_.beside + (queue.left - beside);
    time = std::max(ends, time + cost_.taken * queue.awaited);
    move_until(time);
    queue = {};
    return time;
  }
  /// Both move at a part of their rates until the shorter one is done, and then the longer one alone.
  constexpr void move_until(double time) {
    const double beside =
        std::min((time - now_) * cost_.beside, std::min(fetches_.left, stores_.left));
    const double alone = time - now_ - beside / cost_.beside;
    fetches_.left = std::max(fetches_.left - beside - alone, 0.);
    stores_.left = std::max(stores_.left - beside - alone, 0.);
    now_ = time;
  }

  AwayCost cost_;
  Queue fetches_, stores_;
  double now_ = 0;  // until when they have moved
};

}  // namespace sinter

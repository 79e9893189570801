// SPDX-License-Identifier: Apache-2.0
// What it costs a rank to move what lives outside of the device's memory (Offload): which instructions fetch
// and store it, how many bytes, and how long they wait for it.
#pragma once
#include <algorithm>
#include <limits>
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
  explicit constexpr AwayQueues(const AwayCost& cost)
      : beside_(cost.beside), taken_(cost.taken), queues_{{cost.fetch}, {cost.store}} {}

  /// Does what an instruction does, at a time that is not before the last. Returns the time at which the
  /// rank goes on.
  constexpr double run(const AwayStep& step, double time) {
    if (step.awaits_fetches) time = wait(queues_[0], time);
    if (step.awaits_stores) time = wait(queues_[1], time);
    move_until(time);
    queues_[0].add(step.fetched);
    queues_[1].add(step.stored);
    return time;
  }

 private:
  struct Queue {
    double rate;
    double left = 0;     // bytes that have not moved
    double awaited = 0;  // bytes that were started since the last wait
    constexpr void add(double bytes) {
      left += bytes;
      awaited += bytes;
    }
  };

  constexpr double wait(Queue& queue, double time) {
    move_until(time);
    while (queue.left > 0) move(std::numeric_limits<double>::infinity());
    if (queue.awaited > 0) time = std::max(now_, time + taken_ * queue.awaited / queue.rate);
    queue.awaited = 0;
    return time;
  }
  constexpr void move_until(double time) {
    while (now_ < time && (queues_[0].left > 0 || queues_[1].left > 0)) move(time);
    now_ = std::max(now_, time);
  }
  /// Moves bytes until then, or until a queue is empty.
  constexpr void move(double until) {
    const double part = queues_[0].left > 0 && queues_[1].left > 0 ? beside_ : 1;
    double end = until;
    for (const Queue& queue : queues_)
      if (queue.left > 0) end = std::min(end, now_ + queue.left / (part * queue.rate));
    for (Queue& queue : queues_) {
      if (queue.left == 0) continue;
      const bool ends = now_ + queue.left / (part * queue.rate) <= end;
      queue.left = ends ? 0 : queue.left - part * queue.rate * (end - now_);
    }
    now_ = end;
  }

  double beside_, taken_;
  Queue queues_[2];  // of fetches, and of stores
  double now_ = 0;   // until when bytes have moved
};

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// The cost to a rank of offloaded state (Offload): which instructions fetch and store it, how many
// bytes, and the time they wait.
#pragma once
#include <algorithm>
#include <vector>

#include "sinter/plan/plan_view.hpp"

namespace sinter::detail {

/// Cost of moving bytes between the device's memory and offloaded memory.
struct OffloadCost {
  double fetch = 0;  ///< fetched bytes per second, without stores at the same time
  double store = 0;  ///< stored bytes per second, without fetches at the same time
  /// Factor on each direction's rate while the other direction moves bytes, too: 1 if they share
  /// nothing, 1/2 if they share one rate.
  double beside = 1;
  /// The part of a transfer's time in which the rank cannot compute: 0 if transfers run beside the
  /// computation, 1 if they take its processor.
  double taken = 0;
};

/// An instruction's transfers of offloaded state: it waits first, then starts new ones.
struct OffloadStep {
  bool awaits_fetches = false;     ///< waits for all fetches that were started
  bool awaits_stores = false;      ///< waits for all stores that were started
  double fetched = 0, stored = 0;  ///< bytes of a rank whose transfer it starts
  /// True if it waits or starts anything.
  constexpr bool any() const {
    return awaits_fetches || awaits_stores || fetched > 0 || stored > 0;
  }
};

/// Returns the transfers of the instructions of the training program, from what their kinds touch
/// in offloaded spaces (Model::is_offloaded).
[[nodiscard]] std::vector<OffloadStep> offload_steps(const PlanView& plan);

/// The transfers of a rank, as OffloadMemory runs them: fetches in order and stores in order,
/// beside each other and beside the rank's computation.
class OffloadQueues {
 public:
  /// requires  rates above 0, if anything is moved
  explicit constexpr OffloadQueues(const OffloadCost& cost) : cost_(cost) {}

  /// Runs an instruction's transfers, at a time not before that of the last call. Returns the time
  /// at which the rank continues.
  constexpr double run(const OffloadStep& step, double time) {
    if (step.awaits_fetches) time = wait(fetches_, stores_, time);
    if (step.awaits_stores) time = wait(stores_, fetches_, time);
    move_until(time);
    if (step.fetched > 0) fetches_.add(step.fetched / cost_.fetch);
    if (step.stored > 0) stores_.add(step.stored / cost_.store);
    return time;
  }

 private:
  /// Transfers of one direction, in seconds without the other direction.
  struct Queue {
    double left = 0;     // of bytes that have not moved
    double awaited = 0;  // of transfers started since the last wait
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
  /// Both directions move at reduced rates until the shorter one ends, then the other at its own.
  constexpr void move_until(double time) {
    const double beside =
        std::min((time - now_) * cost_.beside, std::min(fetches_.left, stores_.left));
    const double alone = time - now_ - beside / cost_.beside;
    fetches_.left = std::max(fetches_.left - beside - alone, 0.);
    stores_.left = std::max(stores_.left - beside - alone, 0.);
    now_ = time;
  }

  OffloadCost cost_;
  Queue fetches_, stores_;
  double now_ = 0;  // time up to which transfers have been simulated
};

}  // namespace sinter::detail

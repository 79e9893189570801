// SPDX-License-Identifier: Apache-2.0
// What a recipe would take on another number of ranks than it has here: memory, what is sent, and the time
// of a step, by the simulation of all ranks (proof/simulate.hpp) with costs (world/costs.hpp).
#pragma once
#include "sinter/plan/owners.hpp"
#include "sinter/proof/simulate.hpp"
#include "sinter/world/away.hpp"
#include "sinter/world/costs.hpp"

namespace sinter {

/// A plan made again for so many ranks. Where a recipe splits what ranks keep, shards, padding and places
/// in the arena are those of a recipe whose type says this number.
class PlanForRanks {
 public:
  /// requires  ranks >= 1; plan outlives this
  PlanForRanks(const PlanView& plan, int ranks);
  PlanForRanks(const PlanForRanks&) = delete;
  PlanForRanks& operator=(const PlanForRanks&) = delete;

  /// The plan of training. What evaluates and predicts is as it was, but for the memory that it needs.
  const PlanView& view() const { return view_; }

 private:
  SplitLayout layout_;
  Placement training_;
  PlanView view_;
};

/// What a forecast takes for given.
struct WorldCosts {
  int micro_batches = 1;  ///< of each rank, all of them full
  LinkCost link{};        ///< between any two ranks
  /// The part of a transfer's time that its ranks cannot compute in: 0 where transfers run beside the
  /// computation, 1 where they take its processor.
  double taken = 0;
  /// How many times as long as the others the last rank computes.
  double straggler = 1;
  /// Of each rank by itself, where the recipe keeps anything outside of the device's memory.
  AwayCost away{};
};

/// What it says.
struct Forecast {
  double step = 0;       ///< seconds, until the last rank has ended the step
  double computing = 0;  ///< of a rank that is no straggler
  double exposed = 0;    ///< of it, the rest of the step but `away`: communication
  double late = 0;       ///< of that, waiting for the straggler
  double sent = 0;       ///< bytes that a rank sends, the mean over all
  /// Seconds that a rank that is no straggler waits for what lives outside of the device's memory. Like
  /// `fetched` and `stored`, of the rank 0, which alone has any where one rank updates for all.
  double away = 0;
  double fetched = 0;  ///< bytes that it fetches from there
  double stored = 0;   ///< bytes that it stores there
};

/// Runs a step on all ranks. seconds: of each instruction of the program of training, each time it runs, as
/// computing_seconds() gives them, or as they were measured.
/// throws    Error if the programs of the ranks do not fit together
[[nodiscard]] Forecast forecast(const PlanForRanks& plan, int ranks, const WorldCosts& costs,
                                std::span<const double> seconds);

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// Forecast of a recipe on another number of ranks: memory, traffic and the time of a step, by the
// simulation of all ranks (proof/simulate.hpp) with costs (forecast/costs.hpp).
#pragma once
#include "sinter/forecast/costs.hpp"
#include "sinter/forecast/offload.hpp"
#include "sinter/plan/owners.hpp"
#include "sinter/proof/simulate.hpp"

namespace sinter::detail {

/// A plan made again for another number of ranks. If a recipe shards what ranks store, then shards,
/// padding and places in the arena are those of a recipe whose type has this number.
class PlanForRanks {
 public:
  /// requires  ranks >= 1; plan outlives this
  PlanForRanks(const PlanView& plan, int ranks);
  PlanForRanks(const PlanForRanks&) = delete;
  PlanForRanks& operator=(const PlanForRanks&) = delete;

  /// The plan of training. In evaluation and prediction, only the memory that they need differs.
  const PlanView& view() const { return view_; }

 private:
  SplitLayout layout_;
  Placement training_;
  PlanView view_;
};

/// Assumptions of a forecast.
struct WorldCosts {
  int micro_batches = 1;  ///< number per rank, all of them full
  LinkCost link{};        ///< between any two ranks
  /// The part of a transfer's time in which its ranks cannot compute: 0 if transfers run beside the
  /// computation, 1 if they take its processor.
  double taken = 0;
  /// Computing time of the last rank, divided by that of the others.
  double straggler = 1;
  /// Cost of each rank's offloaded state, if the recipe offloads any.
  OffloadCost offload{};
};

/// The result of a forecast.
struct Forecast {
  double step = 0;       ///< seconds until the last rank has ended the step
  double computing = 0;  ///< seconds of a rank that is no straggler
  double exposed = 0;    ///< seconds of communication: the rest of its step, except `offload`
  double late = 0;       ///< part of `exposed`: seconds waiting for the straggler
  double sent = 0;       ///< mean number of bytes that a rank sends
  /// Seconds that a rank that is no straggler waits for offloaded state. This, `fetched` and
  /// `stored` are rank 0's, the only one with any if one rank updates for all.
  double offload = 0;
  double fetched = 0;  ///< bytes that rank 0 fetches from offloaded memory
  double stored = 0;   ///< bytes that rank 0 stores in offloaded memory
};

/// Simulates a step on all ranks. `seconds` has the time of each instruction of the training
/// program, each time it runs, as computing_seconds() gives it or as measured.
/// throws    Error if the programs of the ranks do not fit together
[[nodiscard]] Forecast forecast(const PlanForRanks& plan, int ranks, const WorldCosts& costs,
                                std::span<const double> seconds);

}  // namespace sinter::detail

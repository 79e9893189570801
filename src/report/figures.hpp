// SPDX-License-Identifier: Apache-2.0
// The figures and curves of runs.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "report/chart.hpp"
#include "report/run_log.hpp"

namespace sinter::detail::report {

/// The results of a run.
struct Figures {
  std::int64_t steps = 0, best_step = 0;
  double loss = Row::none, best = Row::none;  ///< the last loss, and the lowest validation loss
  /// The best value of the metric that chooses checkpoints (RunLog::best_by), if one does.
  double chosen = Row::none;
  std::int64_t chosen_step = 0;
  double settled = Row::none;  ///< the moving average of the loss at the last step
  double tokens = Row::none, seconds = 0;
  double tokens_per_s = Row::none, examples_per_s = Row::none;  ///< medians
  /// The median wait of a step for its batch, divided by the median time of a step.
  double data_wait = Row::none;
};
Figures figures_of(const RunLog& run);

/// The finite values of a column, by step.
std::vector<Point> column(const RunLog& run, double Row::* value);

/// The chart of a run's training loss alone.
Chart training_loss(const RunLog& run);

/// The charts of runs that have something to show: loss, rate, gradient norm, throughput. `labels`
/// name the runs.
std::vector<Chart> charts_of(std::span<const RunLog> runs, std::span<const std::string> labels);

}  // namespace sinter::detail::report

// SPDX-License-Identifier: Apache-2.0
// What a reader of several runs asks first: which is the best.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/figures.hpp"
#include "report/run_log.hpp"

namespace sinter::detail::report {

/// The names of runs without the folders that all of them lie in.
std::vector<std::string> labels_of(std::span<const RunLog> runs);

/// A figure by which runs are compared.
struct Measure {
  double Figures::* value = &Figures::best;
  std::string name;  ///< as the log calls it: "val_loss", "val_accuracy", or "loss" of training
  bool greater_is_better = false;
};
/// The metric that chooses the checkpoints of all runs that were evaluated; else the validation
/// loss; where no run was evaluated, the training loss at the end.
Measure measure_of(std::span<const RunLog> runs, std::span<const Figures> figures);

/// The run whose figure of measure_of() is best. None if no run has it.
std::optional<std::size_t> best_of(std::span<const RunLog> runs, std::span<const Figures> figures);

/// Sentences on the best run, and on how far the next one is behind; empty if there is none.
std::string headline_of(std::span<const RunLog> runs, std::span<const std::string> labels,
                        std::span<const Figures> figures);

}  // namespace sinter::detail::report

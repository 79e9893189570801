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

/// The run of the lowest validation loss; where no run was evaluated, of the lowest training loss at
/// its end. None if no run has a loss.
std::optional<std::size_t> best_of(std::span<const Figures> figures);

/// Sentences on the best run, and on how far the next one is behind; empty if there is none.
std::string headline_of(std::span<const RunLog> runs, std::span<const std::string> labels,
                        std::span<const Figures> figures);

}  // namespace sinter::detail::report

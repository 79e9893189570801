// SPDX-License-Identifier: Apache-2.0
// A sweep in words, as a table and as JSON.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/run_log.hpp"
#include "tune/sweep.hpp"

namespace sinter::detail::tune {

/// One run of a sweep.
struct Trial {
  Point values;
  std::filesystem::path folder;
  std::string failure{};  ///< why it has not trained to its end, or ""
  report::RunLog log{};   ///< if it has
};

/// A sweep as it stands.
struct SweepStanding {
  const std::vector<Swept>& options;
  const std::vector<Trial>& trials;  ///< that have ended
  std::size_t planned = 0;           ///< all of the sweep
};

/// A run's values as a name of its folder: "optimizer.lr=0.001,schedule.warmup=10".
std::string run_name(const std::vector<Swept>& options, const Point& values);
/// The trial that report::best_of() finds; none if none has trained.
std::optional<std::size_t> best_trial(const SweepStanding& standing);
/// One run: its values and its result.
std::string line_text(const std::vector<Swept>& options, const Trial& trial);
/// All runs, the best first, then those that failed, the best one's flags, and a note for each option
/// whose best value lies at an end of what was tried.
std::string sweep_text(const SweepStanding& standing);
/// The same for programs.
nlohmann::ordered_json sweep_json(const SweepStanding& standing);

}  // namespace sinter::detail::tune

// SPDX-License-Identifier: Apache-2.0
// The records in a run's folder: metrics.jsonl, run.json, and the newest checkpoint's manifest.
#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sinter::detail::report {

/// A row of the log. Values that are absent or not finite are NaN.
struct Row {
  static constexpr double none = std::numeric_limits<double>::quiet_NaN();

  std::int64_t step = 0;
  double loss = none, validation_loss = none, gradient_norm = none, learning_rate = none,
         tokens = none, tokens_per_s = none, step_ms = none, data_wait_ms = none,
         examples_per_s = none;
  std::map<std::string, double> metrics;  ///< of the evaluation, by their names
};

/// Something that happened after a step, such as a roll back.
struct Happening {
  std::int64_t step = 0;
  std::string what, text;
};

/// A start of the run, or of its resumption.
struct Start {
  std::int64_t step = 0;
  std::string date, version, command;
};

/// The content of the newest good checkpoint's manifest.
struct Saved {
  std::int64_t step = 0;
  std::string seed;
  std::vector<std::string> policies;           ///< "slot: Type"
  std::map<std::string, std::string> options;  ///< by dotted name, as JSON
};

struct RunLog {
  std::string name;     ///< the folder, as it was given
  std::string recipe;   ///< empty if nothing says it
  std::string best_by;  ///< the metric that chooses the best checkpoint; empty for the loss
  bool greater_is_better = false;  ///< of best_by
  std::vector<Row> rows;
  std::vector<Happening> happenings;
  std::vector<Start> starts;
  std::optional<Saved> saved;
  std::vector<std::string> notes;  ///< sentences: what is missing or could not be read
};

/// Reads a run of any recipe, live ones too: a last row that is not complete yet is left out.
/// throws    FileError if the folder holds no run, or its log cannot be read
RunLog read_run(const std::filesystem::path& folder);

}  // namespace sinter::detail::report

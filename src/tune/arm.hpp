// SPDX-License-Identifier: Apache-2.0
// One process of a race.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tune/race.hpp"

namespace sinter::detail::tune {

/// The process that trains a row.
struct Arm {
  std::string program;             ///< the row's binary
  std::vector<std::string> words;  ///< what follows `train`
  std::filesystem::path scratch;   ///< a folder for its run, which is made anew and removed
};

/// Starts a process that trains the row, and ends it when it has logged `counted` steps behind its
/// first. A run that ends by itself, as its data do, may have fewer. Returns none if the race was asked to stop
/// (stop_asked()) or `seconds` are over before that.
/// throws    UsageError if the command line of `train` is wrong, as it is for all rows
std::optional<Run> run_arm(const Arm& arm, int row, int counted, double seconds);

/// FLOP a second that the row's matmul reaches alone, on all processors, as `describe` of its binary
/// measures it. 0 if that fails, takes longer than `seconds`, or the race was asked to stop.
double matmul_rate(const Arm& arm, double seconds);

/// Reads a process's metrics.jsonl: the steps behind the first, at most `counted`.
Run measured_by(const std::filesystem::path& log, int counted);

}  // namespace sinter::detail::tune

// SPDX-License-Identifier: Apache-2.0
// The part of ./sinter tune that trains: processes of binaries that hold one row each.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tune/grid_text.hpp"

namespace sinter::detail::tune {

/// What a race takes.
struct RaceArguments {
  Limit limit;
  int arms = 12;                          ///< the most rows that take part
  int rounds = 0;                         ///< if not 0: all rows run so many, and none leaves
  std::filesystem::path out;              ///< for race.json
  double seconds = 600;                   ///< until it ends
  std::map<int, std::string> programs{};  ///< the binary of each row that takes part
  std::vector<std::string> train{};       ///< words of train
  std::string next;     ///< if not "": only round 0 is run, and a file gets numbers of more rows
  std::string json;     ///< if not "": a file for the standing
  std::string source;   ///< the recipe's file
  std::string written;  ///< if not "": a file for the fastest recipe
};

/// Reads --arms N, --rounds N, --out DIR, --minutes M, --used SECONDS (of those minutes), --program ROW=PATH,
/// --next FILE, --json FILE, --source FILE, --write FILE, --memory SIZE, and behind -- what train takes.
/// throws    UsageError
RaceArguments race_arguments(int argc, char** argv);

/// Runs the race, and prints its standing. Returns the exit code: 0 if something was measured, 1 if
/// nothing was, 128 and the signal if one came.
int run_race(const Grid& grid, const RaceArguments& arguments);

}  // namespace sinter::detail::tune

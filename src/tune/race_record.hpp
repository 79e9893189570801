// SPDX-License-Identifier: Apache-2.0
// The file of a race: what takes part, and the runs so far.
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tune/race.hpp"

namespace sinter::detail::tune {

/// Keeps finished runs in FOLDER/race.json, so that a race that was stopped goes on.
class RaceRecord {
  std::filesystem::path path_;
  nlohmann::ordered_json content_;
  std::map<int, std::string> programs_;
  std::vector<Run> runs_{};

 public:
  /// Reads the record, if there is one. Runs of other programs than these are left out, and so are
  /// those that failed: they are tried again.
  /// grid: as grid_json() makes it. words: of train. programs: a hash of each row's binary.
  /// throws    FileError if the folder has the record of another grid or other words, or it is damaged
  RaceRecord(const std::filesystem::path& folder, const nlohmann::ordered_json& grid,
             const std::vector<std::string>& words, std::map<int, std::string> programs);

  /// The run of a row in a round; null if there is none.
  const Run* find(int row, int round) const;
  /// Adds a run, and writes the file.
  void add(const Run& run);
  /// All runs so far.
  const std::vector<Run>& runs() const { return runs_; }
  /// The steps that a process counts in round 0; 0 if that was not decided yet.
  int first_steps() const { return content_.value("first_steps", 0); }
  void set_first_steps(int steps) { content_["first_steps"] = steps; }
};

/// The hash of a file that is a row's program.
std::string program_hash(const std::filesystem::path& program);

}  // namespace sinter::detail::tune

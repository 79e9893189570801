// SPDX-License-Identifier: Apache-2.0
// The record of a run's starts: run.json in its folder, a list with an object for each.
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/arguments.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::cli {

/// The record of a run. It is read once, while the run's lock is held.
class RunRecord {
 public:
  /// Reads the record in a run's folder, if there is one. If it is damaged or no regular file, that
  /// is said by whichever function needs it.
  explicit RunRecord(const std::filesystem::path& run);

  /// Takes the data's paths, and whether to skip what cannot be read, from the newest start that
  /// says them, unless --data is given; and --tokenizer likewise. Returns notes for people,
  /// one per line.
  /// throws    UsageError where --data is not given and there is no record of it; FileError where
  ///           the record is damaged and needed
  [[nodiscard]] std::string take_over_data(Arguments& arguments) const;

  /// The tokenizer of the newest start that says one, if there is any.
  [[nodiscard]] std::optional<std::string> tokenizer() const;

  /// Has --tensorboard hold for all starts from the first that has it. A record that is damaged
  /// says nothing of it.
  void take_over_tensorboard(Arguments& arguments) const;

  /// Appends this start to the record, atomically and durably: the date, Sinter's version, the
  /// command line and the folder in which it was given, the absolute paths of the data and
  /// the tokenizer, the seed, the step from which it goes on, and --tensorboard. Returns notes for people, one per line.
  /// throws    FileError where the record cannot be written, or is no regular file
  [[nodiscard]] std::string add_start(const RecipeView& recipe, const Arguments& arguments,
                                      const std::string& program, std::int64_t step);

 private:
  std::filesystem::path path;
  nlohmann::ordered_json starts = nlohmann::ordered_json::array();
  std::optional<FileError> fault;  // what kept it from being read

  std::string take_over_tokenizer(Arguments& arguments) const;
};

/// Whether the record has the data's paths, so that --resume needs no --data. (Names that are no
/// UTF-8 cannot be written in it.)
[[nodiscard]] bool remembers_data(const Arguments& arguments);

}  // namespace sinter::detail::cli

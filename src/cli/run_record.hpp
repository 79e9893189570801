// SPDX-License-Identifier: Apache-2.0
// The record of a run's starts: run.json in its folder, a list with an object for each.
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::cli {

/// The record of a run. It is read once, while the run's lock is held.
class RunRecord {
 public:
  /// Reads the record in a run's folder, if there is one. If it is damaged or no regular file, the
  /// functions that need it throw.
  explicit RunRecord(const std::filesystem::path& run);

  /// Sets --data, --skip-unreadable and --as-text from the newest start that has them, unless other
  /// --data are given.
  /// Does the same with --tokenizer. Returns notes for people, one per line.
  /// throws    UsageError if --data is not given and not in the record; FileError if the record is
  ///           damaged and needed
  [[nodiscard]] std::string take_over_data(Arguments& arguments) const;

  /// The tokenizer of the newest start that names one, if any. Of a run that began before
  /// tokenizer_config.json counted, it names the folder's vocabulary, which is then read alone.
  [[nodiscard]] std::optional<std::string> tokenizer() const;

  /// The weights that the run has begun with, as an absolute path, if its record names any.
  [[nodiscard]] std::optional<std::string> weights() const;

  /// The names of the classes that the run has learnt, in their order, as its newest start says; or
  /// none.
  [[nodiscard]] std::vector<std::string> class_names() const;

  /// The folder in which the run keeps what came with its weights and tokenizer (origin.hpp), if it
  /// has one.
  [[nodiscard]] std::optional<std::filesystem::path> origin() const;

  /// Sets --special-tokens as the newest start that says it, unless it is given. A run whose record
  /// has no word on it began before texts got any, and goes on without.
  void take_over_special_tokens(Arguments& arguments) const;
  /// Sets --tensorboard if an earlier start had it. A damaged record counts as one without it.
  void take_over_tensorboard(Arguments& arguments) const;
  /// Keeps as many checkpoints as before, unless --keep says otherwise.
  void take_over_keep(Arguments& a) const;
  /// Sets --best-by and --early-stop as an earlier start had them, unless they are given.
  void take_over_best_by(Arguments& a) const;

  /// Appends this start to the record, atomically and durably: date, Sinter's version, command line
  /// and its folder, absolute paths of the data and the tokenizer, names of classes, seed, first step,
  /// --tensorboard, and of a run that begins its configuration (config.hpp).
  /// Keeps what came with weights and tokenizer before that (keep_origin()).
  /// Returns notes for people, one per line.
  /// throws    FileError if the record cannot be written, or is no regular file; and what
  ///           keep_origin() throws
  [[nodiscard]] std::string add_start(const RecipeView& recipe, const Arguments& arguments,
                                      const std::string& program, std::int64_t step);

 private:
  std::filesystem::path path;
  nlohmann::ordered_json starts = nlohmann::ordered_json::array();
  std::optional<FileError> fault;  // why it could not be read

  bool is_older_than_settings() const;
  std::optional<int> newest_number(const char* key, int least) const;
  std::string take_over_tokenizer(Arguments& arguments) const;
};

/// True if the record has the data's paths, so that --resume needs no --data. (Names that are not
/// UTF-8 cannot be in it.)
[[nodiscard]] bool remembers_data(const Arguments& arguments);

}  // namespace sinter::detail::cli

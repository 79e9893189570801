// SPDX-License-Identifier: Apache-2.0
// metrics.jsonl: one JSON object per line, each with its "step".
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "sinter/files/appended_file.hpp"

namespace sinter::detail {

/// The log of one run; it continues where a resumed run continues. One thread may write rows while
/// another makes them durable.
class MetricsLog {
  AppendedFile file;

 public:
  /// Opens or creates the log. Drops the rows of steps after `resume_step`, which is 0 for a fresh
  /// run, rows that are not JSON objects with a step, and a torn last line; the file is then
  /// replaced atomically.
  /// throws    FileError, also if it is a link or no regular file
  MetricsLog(std::filesystem::path path, std::int64_t resume_step);

  /// Writes one row, a JSON object without line breaks, with one call of write(2) wherever the
  /// system takes it whole.
  /// throws    FileError (disk full); no part of the row then stays in the file;
  ///           ArgumentError for a line break
  void append(std::string_view json);
  /// Makes the rows durable; call it before a checkpoint of their steps is saved. If the file has
  /// been removed meanwhile, it is written again.
  /// throws    FileError
  void sync();
};

}  // namespace sinter::detail

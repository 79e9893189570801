// metrics.jsonl: one JSON object a line, each with its "step".
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "sinter/files/io.hpp"

namespace sinter {

/// The log of one run, which goes on where a resumed run goes on.
class MetricsLog {
  std::filesystem::path name;
  Descriptor descriptor;
  std::uint64_t length = 0;

 public:
  /// Opens or creates the log and drops every row of a step after `resume_step`, rows that are no
  /// JSON object with a step, and a torn last line (the file is then replaced atomically). A fresh
  /// run has resume_step 0. Throws FileError.
  MetricsLog(std::filesystem::path path, std::int64_t resume_step);

  /// Writes one row (a JSON object without line breaks) in one write, which reaches the operating
  /// system at once. Throws FileError (disk full); then no part of the row stays in the file.
  void append(std::string_view json);
  /// fsync: before a checkpoint of these rows is saved.
  void sync();
};

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// Event files, which TensorBoard draws.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "sinter/files/appended_file.hpp"

namespace sinter {

/// A number of a step, by the name of the curve that it belongs to. TensorBoard puts curves side by
/// side whose names begin with the same words before a slash.
struct Scalar {
  std::string_view name;  ///< such as "loss/training"
  double value = 0;       ///< is written as a float, which is what TensorBoard reads
};

/// One event file of a run, for the steps from one start to the next. TensorBoard reads all such
/// files of a folder as one run.
///   EventFile events(folder, 0);
///   options.on_step = [&](const StepRecord& r) {
///     events.scalars(r.step, std::array{Scalar{"loss/training", r.loss}});
///   };
/// (https://www.tensorflow.org/tensorboard; records are TFRecords of protocol buffers `Event`.)
class EventFile {
  AppendedFile file;
  std::int64_t reached;

  void restart(std::int64_t step);

 public:
  /// Creates `events.out.tfevents.TIME.HOST.PID.N` in a folder, for the steps after `steps_before`.
  /// What older files there say of these steps, TensorBoard then drops.
  /// throws    FileError
  EventFile(const std::filesystem::path& folder, std::int64_t steps_before);

  /// Writes numbers of a step. A step that is not beyond the one before it replaces what was
  /// written from it on: the run has gone back.
  /// throws    FileError, and then the file ends with what was written before
  void scalars(std::int64_t step, std::span<const Scalar> values);
  /// Writes a text in Markdown.
  /// throws    FileError, as above
  void text(std::int64_t step, std::string_view name, std::string_view markdown);
  /// Makes the file durable, and writes it again if it has been removed.
  /// throws    FileError
  void sync() { file.sync(); }

  /// Where the file is.
  const std::filesystem::path& path() const { return file.path(); }
};

}  // namespace sinter

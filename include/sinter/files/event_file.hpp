// SPDX-License-Identifier: Apache-2.0
// Event files, which TensorBoard reads.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "sinter/files/appended_file.hpp"

namespace sinter::detail {

/// The value of a curve at a step, with the name of the curve. TensorBoard groups curves whose
/// names have the same words before a slash.
struct Scalar {
  std::string_view name;  ///< such as "loss/training"
  double value = 0;       ///< written as a float, which is what TensorBoard reads
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
  /// TensorBoard then ignores values of these steps in older files of the folder.
  /// throws    FileError
  EventFile(const std::filesystem::path& folder, std::int64_t steps_before);

  /// Writes values of a step. If the run has gone back, to a step not beyond the last one written,
  /// they replace what was written from that step on.
  /// throws    FileError; the file then ends with what was written before
  void scalars(std::int64_t step, std::span<const Scalar> values);
  /// Writes a text in Markdown.
  /// throws    FileError, as scalars()
  void text(std::int64_t step, std::string_view name, std::string_view markdown);
  /// Makes the file durable, and writes it again if it has been removed.
  /// throws    FileError
  void sync() { file.sync(); }

  /// The path of the file.
  const std::filesystem::path& path() const { return file.path(); }
};

}  // namespace sinter::detail

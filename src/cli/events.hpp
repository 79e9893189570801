// SPDX-License-Identifier: Apache-2.0
// A run's event file for TensorBoard (train --tensorboard).
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sinter/files/event_file.hpp"
#include "sinter/trainer/stages.hpp"

namespace sinter::detail::cli {

/// The event file of one start of a run. A failed write is left out of the file and gives a
/// warning; training continues.
class Events {
 public:
  /// Creates the file, with a text that describes the run.
  Events(const std::filesystem::path& run, std::int64_t steps_before, std::string_view header,
         double flops_per_token);

  /// Writes a step.
  void step(const StepRecord& record);
  /// Makes what was written durable.
  void sync();

  /// Returns the warnings so far, one per line, and clears them.
  [[nodiscard]] std::string take_warnings() { return std::exchange(warnings, {}); }

 private:
  void try_to(auto write);

  std::optional<EventFile> file;
  double flops_per_token;
  bool fails = false;  // true if the last write failed
  std::string warnings;
};

}  // namespace sinter::detail::cli

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

/// The event file of one start of a run. What cannot be written is left out of it, which is a
/// warning: training goes on.
class Events {
 public:
  /// Creates the file, with a text that says what is trained.
  Events(const std::filesystem::path& run, std::int64_t steps_before, std::string_view header,
         double flops_per_token);

  /// Writes a step.
  void step(const StepRecord& record);
  /// Makes what was written durable.
  void sync();

  /// Returns what the user should be told, one sentence per line, and forgets it.
  [[nodiscard]] std::string take_warnings() { return std::exchange(warnings, {}); }

 private:
  void try_to(auto write);

  std::optional<EventFile> file;
  double flops_per_token;
  bool fails = false;  // the last write has failed
  std::string warnings;
};

}  // namespace sinter::detail::cli

// SPDX-License-Identifier: Apache-2.0
// Folders of runs for tests.
#pragma once
#include <initializer_list>
#include <string>

#include "sinter/files/run_folder.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing {

using Mode = RunFolder::Mode;

inline fs::path save(RunFolder& run, std::int64_t step, bool best = false,
                     const char* content = "weights") {
  auto fill = [&](CheckpointWriter& writer) { writer.add_file("model.safetensors", content); };
  return run.save(step, "{}", fill, best);
}

/// Leaves the folder of a run with these checkpoints.
inline void save_run(const fs::path& path, std::initializer_list<std::int64_t> steps) {
  RunFolder run(path, Mode::fresh);
  for (std::int64_t step : steps) save(run, step);
}

/// The message with which a folder is refused to a run.
inline std::string refusal(const fs::path& path, Mode mode = Mode::either) {
  return message_of([&] { RunFolder run(path, mode); });
}

}  // namespace sinter::detail::testing

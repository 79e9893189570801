// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/run_mark.hpp"

#include <algorithm>
#include <system_error>

#include "files/system.hpp"
#include "sinter/files/checkpoint.hpp"

namespace sinter::detail {
namespace {

namespace fs = std::filesystem;

bool is_regular(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() == fs::file_type::regular;
}

}  // namespace

bool looks_like_run(const fs::path& folder) try {
  if (!is_regular(folder / "lock") || !begins_with(folder / "lock", "pid ")) return false;
  if (is_regular(folder / "metrics.jsonl") || is_regular(folder / "run.json")) return true;
  const auto steps = step_folders(folder);
  return std::ranges::any_of(steps,
                             [](const StepFolder& s) { return looks_like_checkpoint(s.folder); });
} catch (const FileError&) {
  return false;
}

}  // namespace sinter::detail

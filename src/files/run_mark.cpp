// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/run_mark.hpp"

#include <algorithm>
#include <string>
#include <system_error>

#include "sinter/files/checkpoint.hpp"
#include "sinter/files/io.hpp"

namespace sinter {
namespace {

namespace fs = std::filesystem;

bool is_regular(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() == fs::file_type::regular;
}

bool begins_as_a_lock(const fs::path& path) {
  constexpr std::string_view begin = "pid ";
  const InputFile file(path);
  std::string found(begin.size(), '\0');
  if (file.size() < begin.size()) return false;
  file.read_at(0, found.data(), found.size());
  return found == begin;
}

}  // namespace

bool looks_like_run(const fs::path& folder) try {
  if (!is_regular(folder / "lock") || !begins_as_a_lock(folder / "lock")) return false;
  if (is_regular(folder / "metrics.jsonl") || is_regular(folder / "run.json")) return true;
  const auto steps = step_folders(folder);
  return std::ranges::any_of(steps,
                             [](const StepFolder& s) { return looks_like_checkpoint(s.folder); });
} catch (const FileError&) {
  return false;
}

}  // namespace sinter

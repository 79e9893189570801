// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/metrics_log.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

namespace sinter::detail {
namespace {

namespace fs = std::filesystem;

bool belongs(std::string_view row, std::int64_t resume_step) {
  auto json = nlohmann::json::parse(row, nullptr, false);
  if (!json.is_object()) return false;
  auto step = json.find("step");
  return step != json.end() && step->is_number_unsigned() &&
         std::cmp_less_equal(step->get<std::uint64_t>(), resume_step);
}

std::string kept_rows(std::string_view text, std::int64_t resume_step) {
  std::string kept;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    if (end == text.npos) break;  // torn
    if (belongs(text.substr(0, end), resume_step)) kept += text.substr(0, end + 1);
    text.remove_prefix(end + 1);
  }
  return kept;
}

/// Leaves only the rows that stay, if there is a log. Returns its path.
fs::path with_kept_rows(fs::path path, std::int64_t resume_step) {
  std::error_code error;
  if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return path;
  const std::string text = read_file(InputFile(path, Links::refused));
  const std::string kept = kept_rows(text, resume_step);
  if (kept != text) write_file_atomically(path, kept);
  return path;
}

}  // namespace

MetricsLog::MetricsLog(fs::path path, std::int64_t resume_step)
    : file(with_kept_rows(std::move(path), resume_step), AppendedFile::Mode::continued) {}

void MetricsLog::append(std::string_view json) {
  if (json.find('\n') != json.npos)
    throw ArgumentError("A row of the metrics log has a line break inside.");
  file.append(fmt::format("{}\n", json));
}

void MetricsLog::sync() { file.sync(); }

}  // namespace sinter::detail

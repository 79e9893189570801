// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/metrics_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>

#include "files/system.hpp"

namespace sinter {
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

/// Returns 0 or an error.
int write_whole(int file, std::string_view text) {
  while (!text.empty()) {
    ssize_t put = uninterrupted([&] { return ::write(file, text.data(), text.size()); });
    if (put <= 0) return put < 0 ? errno : ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

}  // namespace

MetricsLog::MetricsLog(fs::path path, std::int64_t resume_step) : name(std::move(path)) {
  std::error_code error;
  bool is_new = fs::symlink_status(name, error).type() == fs::file_type::not_found;
  if (!is_new) {
    std::string text = read_file(InputFile(name, Links::refused));
    std::string kept = kept_rows(text, resume_step);
    if (kept != text) write_file_atomically(name, kept);
    length = kept.size();
  }
  descriptor = open_regular(name, O_RDWR | O_CREAT | O_APPEND, Links::refused);
  if (is_new) fsync_folder(parent_folder(name));
}

void MetricsLog::append(std::string_view json) {
  if (json.find('\n') != json.npos)
    throw ArgumentError("A row of the metrics log has a line break inside.");
  std::string row = fmt::format("{}\n", json);
  std::lock_guard one_at_a_time(changing);
  if (int error = write_whole(descriptor.get(), row)) {
    uninterrupted([&] { return ::ftruncate(descriptor.get(), static_cast<off_t>(length)); });
    throw_file_error("write", name, error);
  }
  length += row.size();
}

bool MetricsLog::is_removed() const {
  struct stat ours{}, there{};
  return ::fstat(descriptor.get(), &ours) == 0 && ours.st_nlink == 0 &&
         ::lstat(name.c_str(), &there) != 0 && errno == ENOENT;
}

void MetricsLog::restore() {
  std::string rows(length, '\0');
  for (std::size_t at = 0; at < rows.size();) {
    ssize_t got = uninterrupted([&] {
      return ::pread(descriptor.get(), &rows[at], rows.size() - at, static_cast<off_t>(at));
    });
    if (got <= 0) throw_file_error("read", name, got < 0 ? errno : EIO);
    at += static_cast<std::size_t>(got);
  }
  create_folders(parent_folder(name));
  Descriptor again =
      open_regular(name, O_RDWR | O_CREAT | O_EXCL | O_APPEND, Links::refused, "create");
  if (int error = write_whole(again.get(), rows)) throw_file_error("write", name, error);
  fsync_folder(parent_folder(name));
  descriptor = std::move(again);
}

void MetricsLog::sync() {
  if (is_removed()) {
    std::lock_guard one_at_a_time(changing);
    restore();
  }
  if (uninterrupted([&] { return ::fsync(descriptor.get()); }) != 0)
    throw_file_error("write", name, errno);
}

}  // namespace sinter

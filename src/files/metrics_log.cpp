#include "sinter/files/metrics_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "files/system.hpp"

namespace sinter {
namespace {

namespace fs = std::filesystem;

bool belongs(std::string_view row, std::int64_t resume_step) {
  auto json = nlohmann::json::parse(row, nullptr, false);
  if (!json.is_object()) return false;
  auto step = json.find("step");
  return step != json.end() && step->is_number_integer() &&
         step->get<std::int64_t>() <= resume_step;
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
  descriptor = open_regular(name, O_WRONLY | O_CREAT | O_APPEND, Links::refused);
  if (is_new) fsync_folder(parent_folder(name));
}

void MetricsLog::append(std::string_view json) {
  if (json.find('\n') != json.npos)
    throw ArgumentError("A row of the metrics log has a line break inside.");
  std::string row = fmt::format("{}\n", json);
  ssize_t put;
  do put = ::write(descriptor.get(), row.data(), row.size());
  while (put < 0 && errno == EINTR);
  if (put == static_cast<ssize_t>(row.size())) {
    length += row.size();
    return;
  }
  // A short write to a file means that the disk is full; the rest would fail with that error.
  int reason = put < 0 ? errno : ENOSPC;
  [[maybe_unused]] int cut = ::ftruncate(descriptor.get(), static_cast<off_t>(length));
  throw_file_error("write", name, reason);
}

void MetricsLog::sync() {
  if (::fsync(descriptor.get()) != 0) throw_file_error("write", name, errno);
}

}  // namespace sinter

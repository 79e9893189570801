// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/appended_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "files/system.hpp"

namespace sinter::detail {
namespace {

namespace fs = std::filesystem;

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

AppendedFile::AppendedFile(fs::path path, Mode mode) : name(std::move(path)) {
  std::error_code error;
  const bool is_new = fs::symlink_status(name, error).type() == fs::file_type::not_found;
  const bool only_new = mode == Mode::created;
  descriptor = open_regular(name, O_RDWR | O_CREAT | O_APPEND | (only_new ? O_EXCL : 0),
                            Links::refused, only_new ? "create" : "open");
  struct stat status{};
  if (::fstat(descriptor.get(), &status) != 0) throw_file_error("look at", name, errno);
  length = static_cast<std::uint64_t>(status.st_size);
  if (is_new) fsync_folder(parent_folder(name));
}

void AppendedFile::append(std::string_view piece) {
  std::lock_guard one_at_a_time(changing);
  if (int error = write_whole(descriptor.get(), piece)) {
    uninterrupted([&] { return ::ftruncate(descriptor.get(), static_cast<off_t>(length)); });
    throw_file_error("write", name, error);
  }
  length += piece.size();
}

bool AppendedFile::is_removed() const {
  struct stat ours{}, there{};
  return ::fstat(descriptor.get(), &ours) == 0 && ours.st_nlink == 0 &&
         ::lstat(name.c_str(), &there) != 0 && errno == ENOENT;
}

void AppendedFile::restore() {
  std::string content(length, '\0');
  for (std::size_t at = 0; at < content.size();) {
    ssize_t got = uninterrupted([&] {
      return ::pread(descriptor.get(), &content[at], content.size() - at, static_cast<off_t>(at));
    });
    if (got <= 0) throw_file_error("read", name, got < 0 ? errno : EIO);
    at += static_cast<std::size_t>(got);
  }
  create_folders(parent_folder(name));
  Descriptor again =
      open_regular(name, O_RDWR | O_CREAT | O_EXCL | O_APPEND, Links::refused, "create");
  if (int error = write_whole(again.get(), content)) throw_file_error("write", name, error);
  fsync_folder(parent_folder(name));
  descriptor = std::move(again);
}

void AppendedFile::sync() {
  if (is_removed()) {
    std::lock_guard one_at_a_time(changing);
    restore();
  }
  if (uninterrupted([&] { return ::fsync(descriptor.get()); }) != 0)
    throw_file_error("write", name, errno);
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#include "files/run_link.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "files/system.hpp"
#include "sinter/files/checkpoint.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {
namespace {

namespace fs = std::filesystem;

/// True if symlink() failed as it does where a file system has no symbolic links.
bool has_no_links(int error) { return error == EPERM || error == EOPNOTSUPP || error == ENOSYS; }

/// Returns the first line of a plain file; empty if it cannot be read or is long.
std::string line_of(const fs::path& path) try {
  constexpr std::uint64_t limit = 64;
  const std::string text = read_file(InputFile(path, Links::refused), limit);
  return text.substr(0, text.find('\n'));
} catch (const FileError&) {
  return "";
}

}  // namespace

std::string read_run_link(const fs::path& link) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(link, error).type();
  std::string name;
  if (type == fs::file_type::symlink) name = fs::read_symlink(link, error).filename().string();
  if (type == fs::file_type::regular) name = line_of(link);
  return is_step_name(name) ? name : "";
}

bool write_run_link(const fs::path& link, const fs::path& target) {
  const fs::path temporary = temporary_sibling(link);
  remove_path(temporary);
  const bool linked =
      uninterrupted([&] { return ::symlink(target.c_str(), temporary.c_str()); }) == 0;
  if (!linked) {
    if (!has_no_links(errno)) throw_file_error("create the link", temporary, errno);
    write_file_atomically(link, target.string() + "\n");
    return false;
  }
  try {
    rename_path(temporary, link);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  fsync_folder(parent_folder(link));
  return true;
}

}  // namespace sinter::detail

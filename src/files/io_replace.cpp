// SPDX-License-Identifier: Apache-2.0
// Renames, syncs, replaces and removes files and folders.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "files/system.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail {
namespace {

namespace fs = std::filesystem;

fs::path without_final_slash(const fs::path& path) {
  return path.has_filename() || !path.has_relative_path() ? path : path.parent_path();
}

fs::path hidden_sibling(const fs::path& path, std::string_view kind, int process = ::getpid()) {
  fs::path plain = without_final_slash(path);
  return parent_folder(plain) / fmt::format(".{}.{}-{}", plain.filename().string(), kind, process);
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
}

/// Exchanges two paths. Returns false if the file system cannot.
bool exchange_paths(const fs::path& one, const fs::path& other) {
  if (uninterrupted([&] {
        return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
      }) == 0)
    return true;
  if (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || errno == EXDEV) return false;
  throw_file_error("replace", other, errno);
}

/// What cannot be removed stays under its hidden name; the next clean-up tries again.
void discard(const fs::path& path) { [[maybe_unused]] std::error_code error = remove_all_of(path); }

/// Syncs the folder that holds `target`; if that fails, `undo` puts the names back.
void sync_or_undo(const fs::path& target, auto undo) {
  try {
    fsync_folder(parent_folder(target));
  } catch (...) {
    undo();
    throw;
  }
}

void rename_durably(const fs::path& fresh, const fs::path& target) {
  rename_path(fresh, target);
  sync_or_undo(target, [&] { rename_path(target, fresh); });
}

void replace_in_two_steps(const fs::path& fresh, const fs::path& target) {
  fs::path old = hidden_sibling(target, "old");
  remove_path(old);
  rename_path(target, old);
  try {
    rename_durably(fresh, target);
  } catch (...) {
    rename_path(old, target);
    throw;
  }
  discard(old);
}

}  // namespace

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    entries.push_back(at->path());
  if (error) throw_file_error("list the folder", folder, error.value());
  return entries;
}

fs::path parent_folder(const fs::path& path) {
  fs::path parent = without_final_slash(path).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

fs::path temporary_sibling(const fs::path& path) { return hidden_sibling(path, "tmp"); }

fs::path temporary_sibling_of(int process, const fs::path& path) {
  return hidden_sibling(path, "tmp", process);
}

std::string name_behind(std::string_view file_name, std::string_view kind) {
  std::size_t digits = file_name.find_last_not_of("0123456789");
  if (!file_name.starts_with('.') || digits + 1 == file_name.size()) return "";
  std::string_view rest = file_name.substr(1, digits);
  std::string ending = fmt::format(".{}-", kind);
  if (!rest.ends_with(ending)) return "";
  return std::string(rest.substr(0, rest.size() - ending.size()));
}

void fsync_folder(const fs::path& folder) {
  Descriptor opened = open_path(folder, O_RDONLY | O_DIRECTORY, "open the folder");
  // Some file systems answer EINVAL, such as network ones, where renames are synchronous.
  if (uninterrupted([&] { return ::fsync(opened.get()); }) != 0 && errno != EINVAL)
    throw_file_error("sync the folder", folder, errno);
}

void rename_path(const fs::path& from, const fs::path& to) {
  if (uninterrupted([&] { return ::rename(from.c_str(), to.c_str()); }) != 0)
    throw_file_error(fmt::format("rename {} to", from.string()), to, errno);
}

void make_folder(const fs::path& folder, const fs::path& shown) {
  if (uninterrupted([&] { return ::mkdir(folder.c_str(), 0777); }) != 0)
    throw_file_error("create the folder", shown, errno);
}

void create_folders(const fs::path& given) {
  const fs::path folder = without_final_slash(given), parent = parent_folder(folder);
  std::error_code error;
  if (fs::is_directory(folder, error)) return;
  if (parent != folder) create_folders(parent);
  if (uninterrupted([&] { return ::mkdir(folder.c_str(), 0777); }) != 0) {
    const int reason = errno;
    if (reason == EEXIST && fs::is_directory(folder, error)) return;  // another process was faster
    throw_file_error("create the folder", folder, reason == EEXIST ? ENOTDIR : reason);
  }
  // A folder that may be written but not read cannot be synced.
  if (::access(parent.c_str(), R_OK) == 0) fsync_folder(parent);
}

std::error_code remove_all_of(const fs::path& path) {
  std::error_code error;
  do fs::remove_all(path, error);
  while (error == std::errc::interrupted);
  return error;
}

void remove_path(const fs::path& path) {
  if (std::error_code error = remove_all_of(path)) throw_file_error("remove", path, error.value());
}

void write_file_atomically(const fs::path& path, const std::function<void(OutputFile&)>& fill) {
  fs::path temporary = temporary_sibling(path);
  ::unlink(temporary.c_str());  // a process with this number may have left it
  try {
    OutputFile out(temporary, Links::refused);
    fill(out);
    out.finish();
    rename_path(temporary, path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  fsync_folder(parent_folder(path));
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  write_file_atomically(path, [content](OutputFile& out) { out.write(content); });
}

namespace {

/// The folders that are missing above a path, the deepest first.
std::vector<fs::path> missing_above(const fs::path& path) {
  std::vector<fs::path> missing;
  for (fs::path at = parent_folder(path); !is_there(at); at = parent_folder(at))
    missing.push_back(at);
  return missing;
}

}  // namespace

void write_folder_atomically(const fs::path& folder,
                             const std::function<void(const fs::path&)>& fill) {
  // One that is there may be the root of a file system, or its parent not writable: it stays.
  const bool is_new = !is_there(folder);
  const fs::path fresh = temporary_sibling(is_new ? folder : folder / "content");
  const std::vector<fs::path> above = missing_above(folder);
  std::vector<fs::path> moved;
  try {
    create_folders(parent_folder(folder));
    remove_path(fresh);
    make_folder(fresh, folder);
    fill(fresh);
    fsync_folder(fresh);
    if (is_new) return rename_durably(fresh, folder);
    for (const fs::path& file : entries_of(fresh)) {
      rename_path(file, folder / file.filename());
      moved.push_back(folder / file.filename());
    }
    fsync_folder(folder);
    remove_path(fresh);
  } catch (...) {
    moved.push_back(fresh);
    for (const fs::path& path : moved) discard(path);
    for (const fs::path& path : above) ::rmdir(path.c_str());
    throw;
  }
}

void replace_folder(const fs::path& fresh, const fs::path& target, bool exchange) {
  if (!is_there(target)) {
    rename_durably(fresh, target);
  } else if (exchange && exchange_paths(fresh, target)) {
    sync_or_undo(target, [&] { exchange_paths(fresh, target); });
    discard(fresh);  // what was at `target`
  } else {
    replace_in_two_steps(fresh, target);
  }
}

void recover_replaced(const fs::path& parent,
                      const std::function<bool(const std::string&)>& is_ours) {
  for (const fs::path& old : entries_of(parent)) {
    std::string name = name_behind(old.filename().string(), "old");
    if (name.empty() || (is_ours && !is_ours(name))) continue;
    if (is_there(parent / name))
      remove_path(old);
    else
      rename_path(old, parent / name);
  }
}

}  // namespace sinter::detail

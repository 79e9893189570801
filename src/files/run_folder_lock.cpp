// SPDX-License-Identifier: Apache-2.0
// The lock of a run's folder, and how the folder is found again by it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "files/manifest.hpp"
#include "files/system.hpp"
#include "sinter/files/run_folder.hpp"

namespace sinter {
using namespace detail;
namespace {

namespace fs = std::filesystem;

/// What the file of a lock says: "pid 123 on host" and a line break, unless its holder has not
/// written it yet.
std::string text_of_lock(int lock) {
  char text[512];
  ssize_t size = uninterrupted([&] { return ::pread(lock, text, sizeof text, 0); });
  return std::string(text, size > 0 ? static_cast<std::size_t>(size) : 0);
}

std::string run_of_lock(const std::string& text) {
  std::size_t at = text.find("\nrun ");
  std::string run = at == text.npos ? "" : text.substr(at + 5, 32);
  return is_run_name(run) ? run : "";
}

std::string holder_of(int lock) {
  std::string text = text_of_lock(lock);
  std::string holder = printable(text.substr(0, text.find('\n')));
  return holder.empty() ? "another process" : holder;
}

}  // namespace

void RunFolder::take_lock() {
  fs::path path = folder / "lock";
  Descriptor file = open_regular(path, O_RDWR | O_CREAT, Links::refused);
  int opened = file.get();
  if (uninterrupted([&] { return ::flock(opened, LOCK_EX | LOCK_NB); }) != 0) {
    if (errno != EWOULDBLOCK) throw_file_error("lock", path, errno);
    throw FileError(
        fmt::format("{} is in use by a live run: {}. Wait until it ends, stop it, or "
                    "choose another folder.",
                    folder.string(), holder_of(opened)));
  }
  std::string before = text_of_lock(opened);
  if (!before.empty() && !before.starts_with("pid "))
    throw FileError(
        fmt::format("{} is not the lock of a run, and is not overwritten. Move it away, or choose "
                    "another folder.",
                    path.string()));
  had_lock = !before.empty();
  if (run.empty()) run = run_of_lock(before);
  write_lock(opened);
  lock = std::move(file);
}

void RunFolder::write_lock(int file) const {
  std::string text = fmt::format("pid {} on {}\n", ::getpid(), host_name("unknown"));
  if (!run.empty()) text += fmt::format("run {}\n", run);
  auto size = static_cast<ssize_t>(text.size());
  ssize_t put = uninterrupted([&] { return ::pwrite(file, text.data(), text.size(), 0); });
  if (put != size) throw_file_error("write", folder / "lock", put < 0 ? errno : ENOSPC);
  if (uninterrupted([&] { return ::ftruncate(file, size); }) != 0)
    throw_file_error("write", folder / "lock", errno);
}

/// Finds the folder again if it was moved, or makes it anew if it or its lock was removed: the
/// coming save may be all that is left of the run.
void RunFolder::find_again() {
  struct stat ours{};
  if (::fstat(lock.get(), &ours) != 0) throw_file_error("look at", folder / "lock", errno);
  auto holds_lock = [&](const fs::path& place) {
    struct stat there{};
    return ::lstat((place / "lock").c_str(), &there) == 0 && there.st_dev == ours.st_dev &&
           there.st_ino == ours.st_ino;
  };
  if (holds_lock(folder)) return;
  std::error_code error;
  fs::path now = fs::read_symlink(fmt::format("/proc/self/fd/{}", lock.get()), error);
  if (ours.st_nlink > 0 && now.filename() == "lock") {
    if (now.parent_path() == fs::canonical(folder, error)) return;  // numbers of files may change
    if (!holds_lock(now.parent_path()))
      throw FileError(fmt::format("{} is not where it was, and is not found in {}. Put it back.",
                                  folder.string(), printable(now.parent_path().string(), 1000)));
    warnings += fmt::format("{} was moved while the run was live. It goes on in {}.\n",
                            folder.string(), printable(now.parent_path().string(), 1000));
    folder = now.parent_path();
    if (!newest.empty()) newest = folder / newest.filename();
    return;
  }
  if (fs::status(newest, error).type() == fs::file_type::not_found) newest.clear();
  create_folders(folder);
  take_lock();
  warnings += fmt::format(
      "{} or its lock was removed while the run was live. It goes on there; checkpoints that were "
      "removed are gone.\n",
      folder.string());
}

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// System calls that can be made to fail or to end the process. They are this file's own functions,
// which the dynamic linker prefers to the C library's. Include it in only one file of a binary.
#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "unit/files/support.hpp"

namespace sinter::detail::testing {

/// A write may also take nothing, or half of what it is given.
enum class Fault { none, error, death, zero, half };

/// The fault that strikes call number `at` while `armed`, and the calls that were seen meanwhile:
/// those that change files, and with `reading` those that open, read and lock them, too.
struct Calls {
  bool armed = false;
  Fault fault = Fault::none;
  int at = 0, number = 0, error = 0;
  std::vector<std::string> seen;
  bool reading = false;
  int no_links = 0;  // the error of a file system without symbolic links, or 0
};
inline Calls calls;
inline std::mutex calls_mutex;  // a run saves in a thread of its own

/// What strikes this call; errno is then set. `half` is done before the process dies.
inline Fault fault_of(const std::string& call, const std::function<void()>& half = [] {}) {
  std::lock_guard lock(calls_mutex);
  if (!calls.armed) return Fault::none;
  calls.seen.push_back(call);
  if (++calls.number != calls.at) return Fault::none;
  if (calls.fault == Fault::death) {
    half();
    ::raise(SIGKILL);
  }
  errno = calls.error;
  return calls.fault;
}

/// Whether this call is to fail.
inline bool struck(const std::string& call) { return fault_of(call) == Fault::error; }

inline std::string path_of(int descriptor) {
  char path[4096];
  std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  ssize_t size = ::readlink(link.c_str(), path, sizeof path);
  return fs::path(std::string(path, size > 0 ? static_cast<std::size_t>(size) : 0)).filename();
}

inline std::string name_of(const char* path) {
  fs::path full(path);
  return full.has_filename() ? full.filename() : full.parent_path().filename();
}

inline long direct(long number, auto... arguments) { return ::syscall(number, arguments...); }

inline void arm(Fault fault, int at, int error = 0, bool reading = false) {
  std::lock_guard lock(calls_mutex);
  calls = {true, fault, at, 0, error, {}, reading};
}

/// Ends the faults and returns how many calls there were.
inline int disarm() {
  std::lock_guard lock(calls_mutex);
  calls.armed = false;
  return calls.number;
}

/// struck() for a call that changes nothing.
inline bool struck_reading(const std::string& call) { return calls.reading && struck(call); }

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (struck_reading("open " + name_of(path))) return -1;
  return static_cast<int>(direct(SYS_openat, AT_FDCWD, path, flags, mode));
}

ssize_t pread(int file, void* into, size_t bytes, off_t at) {
  if (struck_reading("pread " + path_of(file))) return -1;
  return direct(SYS_pread64, file, into, bytes, at);
}

ssize_t pwrite(int file, const void* data, size_t bytes, off_t at) {
  if (path_of(file) == "lock") {  // of a run's folder, when it is opened
    if (struck_reading("pwrite lock")) return -1;
    return direct(SYS_pwrite64, file, data, bytes, at);
  }
  auto half = [&] { direct(SYS_pwrite64, file, data, bytes / 2, at); };
  const Fault fault = fault_of("pwrite " + path_of(file), half);
  if (fault == Fault::error) return -1;
  if (fault == Fault::zero) return 0;
  if (fault == Fault::half) bytes = (bytes + 1) / 2;
  return direct(SYS_pwrite64, file, data, bytes, at);
}

int fallocate(int file, int mode, off_t at, off_t bytes) {
  if (struck("fallocate " + path_of(file))) return -1;
  return static_cast<int>(direct(SYS_fallocate, file, mode, at, bytes));
}

int flock(int file, int operation) noexcept {
  if (struck_reading("flock " + path_of(file))) return -1;
  return static_cast<int>(direct(SYS_flock, file, operation));
}

ssize_t write(int file, const void* data, size_t bytes) {
  auto half = [&] { direct(SYS_write, file, data, bytes / 2); };
  const Fault fault = fault_of("write " + path_of(file), half);
  if (fault == Fault::error) return -1;
  if (fault == Fault::zero) return 0;
  if (fault == Fault::half) bytes = (bytes + 1) / 2;
  return direct(SYS_write, file, data, bytes);
}

// This is not passed on: what is to survive only the process needs no disk, and waiting for one
// takes most of the time.
int fsync(int file) { return struck("fsync " + path_of(file)) ? -1 : 0; }

int ftruncate(int file, off_t size) noexcept {
  if (struck("ftruncate " + path_of(file))) return -1;
  return static_cast<int>(direct(SYS_ftruncate, file, size));
}

int rename(const char* from, const char* to) noexcept {
  if (struck("rename " + name_of(from) + " " + name_of(to))) return -1;
  return static_cast<int>(direct(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int renameat2(int, const char* from, int, const char* to, unsigned flags) noexcept {
  if (struck("exchange " + name_of(from) + " " + name_of(to))) return -1;
  return static_cast<int>(direct(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, flags));
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (struck("mkdir " + name_of(path))) return -1;
  return static_cast<int>(direct(SYS_mkdirat, AT_FDCWD, path, mode));
}

int symlink(const char* target, const char* path) noexcept {
  if (struck("symlink " + name_of(path))) return -1;
  if (calls.no_links != 0) {
    errno = calls.no_links;
    return -1;
  }
  return static_cast<int>(direct(SYS_symlinkat, target, AT_FDCWD, path));
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  if (struck("unlink " + name_of(path))) return -1;
  return static_cast<int>(direct(SYS_unlinkat, folder, path, flags));
}

}  // extern "C"

}  // namespace sinter::detail::testing

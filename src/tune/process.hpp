// SPDX-License-Identifier: Apache-2.0
// A program that runs beside this one.
#pragma once
#include <sys/resource.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sinter::detail::tune {

/// A process of its own group, which ends with this object, or with this program, at the latest. A
/// terminal's Ctrl-C does not reach it. If memory is short, the system ends it first.
class Process {
  pid_t id_;
  bool has_ended_ = false;
  int status_ = 0;
  rusage usage_{};

 public:
  /// words: the program's path, and its arguments. output, errors: files for what it writes.
  /// throws    Error if the system refuses a process
  Process(std::vector<std::string> words, const std::filesystem::path& output,
          const std::filesystem::path& errors);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { end(); }

  bool has_ended();
  /// Waits until it has ended. False if it has not at `deadline`, or this program was asked to stop.
  bool wait(std::chrono::steady_clock::time_point deadline);
  /// Asks it to end (SIGINT), and ends it if it has not done so after `seconds`.
  void interrupt(double seconds);
  /// Ends it now, with its children.
  void end();

  /// How it ended, as wait4() says it. requires  it has ended
  int status() const { return status_; }
  /// The most memory that it had.
  std::int64_t peak_bytes() const { return std::int64_t(usage_.ru_maxrss) * 1024; }
};

/// The time in so many seconds.
std::chrono::steady_clock::time_point after(double seconds);

/// Why a process has failed, in a line: the signal, the error that its messages name, or the last line
/// of all.
std::string failure_text(int status, const std::filesystem::path& errors);

/// Lets SIGINT, SIGTERM and SIGHUP ask this program to stop from now on, until it ends.
void catch_stops();
/// The signal that asked; 0 if none has.
int stop_asked();

}  // namespace sinter::detail::tune

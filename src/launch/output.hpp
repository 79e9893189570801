// SPDX-License-Identifier: Apache-2.0
// Passes the output of ranks on to the launcher's standard output and error.
#pragma once
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "launch/arguments.hpp"
#include "launch/labelled_lines.hpp"
#include "sinter/files/io.hpp"  // Descriptor

namespace sinter::detail::launch {

/// Reads the pipes of ranks and writes their lines, each whole, labelled "[rank 2] ". It has a
/// thread, so that a slow reader delays nothing else of the launcher. Lines for a reader who has
/// left are dropped: ranks go on.
class Output {
  struct Pipe {
    Descriptor from;
    LabelledLines lines;
    int to;
  };
  struct Sink {
    int descriptor;
    std::string before_text;  // leaves a line of rank 0 that stands there and will be drawn anew
    std::string text;
    bool gone = false;
  };

  Shown shown;
  Descriptor null, woken, all_written;
  std::vector<Pipe> pipes;
  std::vector<Descriptor> given;  // to ranks
  Sink sinks[2];
  std::mutex mutex;
  std::vector<std::string> said;
  bool finishing = false;
  std::thread thread;

 public:
  /// throws    Error if the system gives no descriptors
  explicit Output(Shown shown);
  /// Waits until all is written, if the thread was started.
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// The future standard output and error of a rank; both live until begin().
  struct Ends {
    int output, error;
  };
  /// throws    Error if the system gives no pipe
  Ends ends_for(int rank);
  /// Starts the thread, once all ranks have their ends.
  void begin();
  /// Writes a line of the launcher's own to standard error, behind what ranks have written so far.
  void say(std::string line);
  /// Ends once all is written that ranks have written so far.
  void finish();
  /// Readable when that is done.
  int finished() const { return all_written.get(); }

 private:
  int pipe_to(int sink, int rank);
  void work();
  void read(Pipe& pipe);
  void write(Sink& sink);
};

}  // namespace sinter::detail::launch

// SPDX-License-Identifier: Apache-2.0
// The signals that the launcher waits for.
#pragma once
#include <signal.h>

#include <string>
#include <vector>

#include "sinter/files/io.hpp"  // Descriptor

namespace sinter::detail::launch {

/// Holds signals back from the moment that it is made, so that none is lost, and reads them one by
/// one: SIGCHLD, and those that are passed on to the ranks. One of these that the parent ignores,
/// such as SIGHUP below nohup, stays ignored, but for SIGINT and SIGQUIT: shells ignore these for
/// whatever runs in the background.
class Signals {
  Descriptor queue;
  std::vector<int> passed;
  sigset_t before{};

 public:
  /// requires  there is one thread
  /// throws    Error if the system gives no descriptor
  Signals();

  /// Readable when a signal is there.
  int descriptor() const { return queue.get(); }
  /// The next signal; 0 if there is none.
  int next();
  /// In the process of a rank: undoes what the launcher has changed. Signals that are passed on, and
  /// those of writes that fail, have their default action then, whatever the launcher's parent does
  /// with them.
  void restore() const;
};

/// True if a signal asks any program to end.
bool asks_to_end(int signal);
/// Stops this process as Ctrl-Z does, until it is continued. Returns at once if no shell could
/// continue it.
void stop_this_process();
/// "SIGTERM"
std::string name_of_signal(int signal);

}  // namespace sinter::detail::launch

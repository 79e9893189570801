// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sinter::detail::cli {

/// Makes SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGXCPU ask the training to stop, until the process
/// ends. Batch systems and terminals send them, some more than once, and a program that is about to
/// exit must not die of one. A second SIGINT ends the process at once with the code 130. A
/// checkpoint that is being saved then does not count; older ones stay as they are. SIGHUP stays
/// ignored if the parent ignores it, as nohup does. This belongs to the binary, as a library should
/// not touch signals.
void catch_stop_signals();

/// Makes SIGINT, SIGTERM and SIGHUP ask the text that is being written to stop, in the same way. A
/// second SIGINT ends the process at once with the code 130.
void catch_end_signals();

/// Returns the first signal that has asked to stop; 0 if none has.
int first_stop_signal();

/// Returns the number of signals that have asked to stop.
int stop_signals();

/// True until a signal has asked to stop.
inline bool no_signal_came() { return stop_signals() == 0; }

/// Makes SIGINT end the process with the code 130, but where CountedInterrupts counts it.
void catch_interrupts();

/// Counts SIGINT as long as this lives, where it would end the process (catch_interrupts()).
class CountedInterrupts {
 public:
  CountedInterrupts();
  ~CountedInterrupts();
  CountedInterrupts(const CountedInterrupts&) = delete;
  CountedInterrupts& operator=(const CountedInterrupts&) = delete;
  /// The number of signals so far.
  int count() const;
};

}  // namespace sinter::detail::cli

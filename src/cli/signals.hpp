#pragma once

namespace sinter::cli {

/// While an object of this class lives, SIGINT and SIGTERM only ask the training to stop, however
/// often they come, and a reader of our output that goes away (SIGPIPE) does not end it. It is part
/// of the binary, as a library has no business with signals.
/// requires  there is one at a time
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// Whether a signal has asked to stop.
  static bool asked();
};

}  // namespace sinter::cli

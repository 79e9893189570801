#pragma once

namespace sinter::cli {

/// While it lives, SIGINT and SIGTERM only ask the training to stop, as often as they come; a
/// reader of our output that goes away (SIGPIPE) does not end it. For the binary: a library has no
/// business with signals. One at a time.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  static bool asked();
};

}  // namespace sinter::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sinter::detail::cli {

/// Lets SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGXCPU only ask the training to stop, for the rest of
/// the process's life: batch systems and terminals send them, some more than once, and a program
/// that is about to exit must not die of one. A second SIGINT ends the process at once with the
/// code 130; a checkpoint that is being saved then does not count, and older ones are as they were.
/// A reader of our output that goes away (SIGPIPE) does not end the process. SIGHUP stays ignored
/// where the parent has ignored it, as nohup does.
/// It is part of the binary, as a library has no business with signals.
void catch_stop_signals();

/// The number of signals that have asked to stop.
int stop_signals();

}  // namespace sinter::detail::cli

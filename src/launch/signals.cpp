// SPDX-License-Identifier: Apache-2.0
#include "launch/signals.hpp"

#include <fmt/format.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "files/system.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::launch {
namespace {

bool is_ignored(int signal) {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Signals::Signals() {
  ::signal(SIGCHLD, SIG_DFL);  // if it is ignored, the system keeps no exit status
  sigset_t waited;
  sigemptyset(&waited);
  sigaddset(&waited, SIGCHLD);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGTSTP}) {
    const bool shells_ignore = signal == SIGINT || signal == SIGQUIT;
    if (!shells_ignore && is_ignored(signal)) continue;
    passed.push_back(signal);
    sigaddset(&waited, signal);
  }
  ::sigprocmask(SIG_BLOCK, &waited, &before);
  queue = Descriptor(::signalfd(-1, &waited, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!queue.is_open())
    throw Error(fmt::format("The system gives no descriptor for signals: {}.",
                            std::generic_category().message(errno)));
}

int Signals::next() {
  signalfd_siginfo read{};
  const ssize_t got = uninterrupted([&] { return ::read(queue.get(), &read, sizeof read); });
  return got == ssize_t(sizeof read) ? int(read.ssi_signo) : 0;
}

void Signals::restore() const {
  // cli::prepare_standard_streams() ignores these.
  for (int of_writes : {SIGXFSZ, SIGPIPE}) ::signal(of_writes, SIG_DFL);
  // A rank is in no terminal's foreground; it may write to the terminal all the same, also after
  // stty tostop.
  ::signal(SIGTTOU, SIG_IGN);
  sigset_t mask = before;
  for (int signal : passed) {
    ::signal(signal, SIG_DFL);
    sigdelset(&mask, signal);
  }
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

bool asks_to_end(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

void stop_this_process() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  ::kill(::getpid(), SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // here it stops, if somebody can let it go on
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

std::string name_of_signal(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

}  // namespace sinter::detail::launch

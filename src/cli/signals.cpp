// SPDX-License-Identifier: Apache-2.0
#include "cli/signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace sinter::detail::cli {
namespace {

constexpr int exit_interrupted = 128 + SIGINT;

std::atomic<int> asked{0}, first{0}, interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free &&
              std::atomic<bool>::is_always_lock_free);  // so that a handler may count

void on_stop(int signal) {
  if (signal == SIGINT && ++interrupts > 1) ::_exit(exit_interrupted);
  int none = 0;
  first.compare_exchange_strong(none, signal);
  ++asked;
}

std::atomic<bool> counts{false};

void on_interrupt(int) {
  if (!counts) ::_exit(exit_interrupted);
  ++interrupts;
}

/// Installs a handler without SA_RESTART: a call that waits, such as a write to a full pipe, then
/// ends and can check for a stop.
void handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

bool is_ignored(int signal) {
  struct sigaction action{};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void catch_stop_signals() {
  for (int signal : {SIGINT, SIGTERM, SIGUSR1, SIGXCPU}) handle(signal, on_stop);
  if (!is_ignored(SIGHUP)) handle(SIGHUP, on_stop);
}

void catch_end_signals() {
  for (int signal : {SIGINT, SIGTERM}) handle(signal, on_stop);
  if (!is_ignored(SIGHUP)) handle(SIGHUP, on_stop);
}

int first_stop_signal() { return first; }

int stop_signals() { return asked; }

void catch_interrupts() { handle(SIGINT, on_interrupt); }

CountedInterrupts::CountedInterrupts() {
  interrupts = 0;
  counts = true;
}
CountedInterrupts::~CountedInterrupts() { counts = false; }
int CountedInterrupts::count() const { return interrupts; }

}  // namespace sinter::detail::cli

#include "cli/signals.hpp"

#include <signal.h>

#include <atomic>

namespace sinter::cli {
namespace {

std::atomic<bool> stop_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // so that a handler may set it

void handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals() {
  stop_asked = false;
  for (int signal : {SIGINT, SIGTERM}) handle(signal, [](int) { stop_asked = true; });
  handle(SIGPIPE, SIG_IGN);
}

StopSignals::~StopSignals() {
  for (int signal : {SIGINT, SIGTERM, SIGPIPE}) handle(signal, SIG_DFL);
}

bool StopSignals::asked() { return stop_asked; }

}  // namespace sinter::cli

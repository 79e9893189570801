// SPDX-License-Identifier: Apache-2.0
#include "tune/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "sinter/error.hpp"

namespace sinter::detail::tune {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto pause = std::chrono::milliseconds(10);

volatile std::sig_atomic_t asked = 0;

/// Becomes the program. Only what a child of fork() may call.
[[noreturn]] void become(char* const* argv, const char* output, const char* errors, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(126);
  ::setpgid(0, 0);
  if (const int score = ::open("/proc/self/oom_score_adj", O_WRONLY); score >= 0) {
    (void)!::write(score, "1000", 4);
    ::close(score);
  }
  constexpr int how = O_WRONLY | O_CREAT | O_TRUNC;
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(::open(output, how, 0600), 1);
  ::dup2(::open(errors, how, 0600), 2);
  ::execv(argv[0], argv);
  ::_exit(126);
}

}  // namespace

Process::Process(std::vector<std::string> words, const std::filesystem::path& output,
                 const std::filesystem::path& errors) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  id_ = ::fork();
  if (id_ == 0) become(argv.data(), output.c_str(), errors.c_str(), parent);
  if (id_ < 0)
    throw Error(fmt::format("{} could not be started: {}", words[0], std::strerror(errno)));
}

bool Process::has_ended() {
  if (!has_ended_) has_ended_ = ::wait4(id_, &status_, WNOHANG, &usage_) == id_;
  return has_ended_;
}

bool Process::wait(Clock::time_point deadline) {
  while (!has_ended()) {
    if (stop_asked() || Clock::now() > deadline) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

void Process::interrupt(double seconds) {
  const Clock::time_point deadline = after(seconds);
  ::kill(id_, SIGINT);
  while (!has_ended() && Clock::now() < deadline) std::this_thread::sleep_for(pause);
  end();
}

void Process::end() {
  if (has_ended_) return;
  ::kill(-id_, SIGKILL);
  ::kill(id_, SIGKILL);  // before it has a group
  while (::wait4(id_, &status_, 0, &usage_) < 0 && errno == EINTR) {
  }
  has_ended_ = true;
}

Clock::time_point after(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::min(seconds, 1e6)));
}

std::string failure_text(int status, const std::filesystem::path& errors) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return signal == SIGKILL ? "the system ended it (SIGKILL), most likely for lack of memory"
                             : fmt::format("signal {} ended it", signal);
  }
  constexpr std::string_view mark = "error: ";
  std::ifstream file(errors);
  std::string line, last;
  while (std::getline(file, line)) {
    if (line.starts_with(mark)) return line.substr(mark.size());
    if (!line.empty()) last = line;
  }
  return last.empty() ? fmt::format("it ended with {}", WEXITSTATUS(status)) : last;
}

void catch_stops() {
  asked = 0;
  struct sigaction action{};
  action.sa_handler = [](int signal) { asked = signal; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
}

int stop_asked() { return asked; }

}  // namespace sinter::detail::tune

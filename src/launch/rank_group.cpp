// SPDX-License-Identifier: Apache-2.0
#include "launch/rank_group.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "files/system.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::launch {
namespace {

[[noreturn]] void not_given(std::string_view what, int error) {
  std::string_view hint = "";
  if (error == EAGAIN || error == ENOMEM)
    hint = " Start fewer ranks, or raise the limit of processes (ulimit -u) or of memory.";
  if (error == EMFILE || error == ENFILE)
    hint = " Start fewer ranks, or raise the limit of open files (ulimit -n).";
  throw Error(fmt::format("{}: {}.{}", what, std::generic_category().message(error), hint));
}

std::string refusal_of(const RankStart& rank, int error) {
  std::string text = fmt::format("Rank {} cannot run '{}': {}.", rank.rank, rank.program,
                                 std::generic_category().message(error));
  if (error == ENOEXEC)
    text +=
        " It is no binary for this machine, and no script whose first line is #! and a program.";
  if (error == ENOENT) text += " What it names as its loader, or behind #!, is not here.";
  return text;
}

/// The two ends of a pipe, which no other program inherits.
std::pair<Descriptor, Descriptor> open_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) not_given("The system gives no pipe for a rank", errno);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Works in a process of its own until the launcher has closed its end of the pipe, or is gone. The
/// signals that are passed on to the group are held back in it as they are in the launcher.
[[noreturn]] void keep(int pipe, int null) {
  ::prctl(PR_SET_NAME, "sinter-keeper");
  ::dup2(pipe, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  ::dup2(null, STDERR_FILENO);
  ::close_range(STDERR_FILENO + 1, ~0u, 0);
  char none;
  uninterrupted([&] { return ::read(STDIN_FILENO, &none, 1); });
  ::kill(-::getpid(), SIGKILL);
  ::_exit(0);
}

/// Becomes the program of a rank. Returns only if that fails.
void become(const RankStart& rank, const Signals& signals, int null) {
  ::dup2(null, STDIN_FILENO);
  ::dup2(rank.output, STDOUT_FILENO);
  ::dup2(rank.error, STDERR_FILENO);
  ::setenv("SINTER_RANK", std::to_string(rank.rank).c_str(), 1);
  ::setenv("SINTER_RANKS", std::to_string(rank.ranks).c_str(), 1);
  ::setenv("SINTER_WORLD", rank.world.c_str(), 1);
  std::vector<char*> words;
  for (const std::string& word : rank.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  signals.restore();
  ::execv(rank.program.c_str(), words.data());
}

}  // namespace

RankGroup::RankGroup() : null(::open("/dev/null", O_RDWR | O_CLOEXEC)) {
  if (!null.is_open()) not_given("Cannot open /dev/null", errno);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  auto [waits, holds] = open_pipe();
  keeper = ::fork();
  if (keeper < 0) not_given("The system starts no process", errno);
  if (keeper == 0) {
    ::setpgid(0, 0);
    holds.close();  // needed if the system lacks close_range()
    keep(waits.get(), null.get());
  }
  ::setpgid(keeper, keeper);  // both, as a rank may join before the keeper has come so far
  held = std::move(holds);
}

RankGroup::~RankGroup() {
  ::kill(-keeper, SIGKILL);
  held.close();
  while (uninterrupted([&] { return ::waitpid(-keeper, nullptr, 0); }) > 0) continue;
  if (keeper_moved) uninterrupted([&] { return ::waitpid(keeper, nullptr, 0); });
}

pid_t RankGroup::start(const RankStart& rank, const Signals& signals) {
  auto [failure, tell] = open_pipe();
  const pid_t launcher = ::getpid();
  const pid_t process = ::fork();
  if (process < 0) not_given(fmt::format("Rank {} cannot be started", rank.rank), errno);
  if (process == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != launcher) ::_exit(1);  // it was gone before it could be asked for
    ::setpgid(0, keeper);
    become(rank, signals, null.get());
    const int error = errno;
    (void)!::write(tell.get(), &error, sizeof error);
    ::_exit(127);
  }
  tell.close();
  int error = 0;
  if (uninterrupted([&] { return ::read(failure.get(), &error, sizeof error); }) > 0) {
    uninterrupted([&] { return ::waitpid(process, nullptr, 0); });
    throw Error(refusal_of(rank, error));
  }
  return process;
}

void RankGroup::signal(int number) { ::kill(-keeper, number); }

bool RankGroup::is_empty() {
  if (!keeper_moved) keeper_moved = ::setpgid(keeper, ::getpgrp()) == 0;
  return ::kill(-keeper, 0) != 0 && errno == ESRCH;
}

}  // namespace sinter::detail::launch

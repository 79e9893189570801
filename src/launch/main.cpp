// SPDX-License-Identifier: Apache-2.0
// The program behind ./sinter launch -n N BINARY.
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "launch/arguments.hpp"
#include "launch/outcome.hpp"
#include "launch/output.hpp"
#include "launch/program.hpp"
#include "launch/rank_group.hpp"
#include "launch/signals.hpp"
#include "sinter/comm/shared_memory.hpp"
#include "sinter/error.hpp"

namespace sinter::detail::launch {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// From SIGTERM to SIGKILL.
constexpr std::chrono::seconds last_wait{5};

void refuse_in_a_rank() {
  const char* rank = std::getenv("SINTER_RANK");
  if (!rank) return;
  throw Error(
      fmt::format("SINTER_RANK is {} here: this is a rank of a launch already, and a rank starts "
                  "no ranks. Launch from outside, or unset SINTER_RANK, SINTER_RANKS and "
                  "SINTER_WORLD.",
                  rank));
}

/// One launch, from the first rank's start to the last one's end.
class Launch {
  const Arguments& arguments;
  Signals& signals;
  const std::string name, program;  // name: the launcher's own, as users call it
  Output output;
  RankGroup group;
  Outcome outcome;

  enum class Stage { waiting, terminated, killed } stage = Stage::waiting;
  std::optional<Clock::time_point> deadline;  // of the stage
  bool asked_to_end = false;

 public:
  Launch(const Arguments& a, Signals& s, std::string own_name)
      : arguments(a),
        signals(s),
        name(std::move(own_name)),
        program(find_program(a.command.front())),
        output(a.shown) {}

  int run() {
    start();
    while (!is_over()) {
      wait_until_deadline();
      while (const int signal = signals.next()) take(signal);
      if (deadline && Clock::now() >= *deadline) end_the_rest();
    }
    output.finish();
    wait_for_reader();
    return outcome.code();
  }

 private:
  void say(const std::string& text) { output.say(name + ": " + text); }

  void start() {
    RankStart next{program, arguments.command, 0, arguments.ranks, shared_memory_world_id()};
    for (; next.rank < next.ranks; ++next.rank) {
      const Output::Ends ends = output.ends_for(next.rank);
      next.output = ends.output, next.error = ends.error;
      outcome.started(group.start(next, signals));
    }
    output.begin();
  }

  bool is_over() {
    if (!outcome.running().empty()) return false;
    if (group.is_empty()) return true;
    if (stage == Stage::waiting && !asked_to_end) deadline = Clock::now();
    begin_grace();
    return false;
  }

  void begin_grace() {
    if (stage == Stage::waiting && !deadline) deadline = Clock::now() + arguments.grace;
  }

  void wait_until_deadline() {
    milliseconds most = milliseconds::max();
    // Processes that ranks have left may not be our children, and their end then sends no signal.
    if (outcome.running().empty()) most = milliseconds(100);
    if (deadline) most = std::min(most, std::chrono::ceil<milliseconds>(*deadline - Clock::now()));
    const int timeout =
        most == milliseconds::max() ? -1 : int(std::max<std::int64_t>(most.count(), 0));
    pollfd waited{signals.descriptor(), POLLIN, 0};
    ::poll(&waited, 1, timeout);
  }

  void take(int signal) {
    if (signal == SIGCHLD) return reap();
    if (asks_to_end(signal)) asked_to_end = true;
    group.signal(signal);
    if (signal != SIGTSTP) return;
    stop_this_process();
    group.signal(SIGCONT);
  }

  void reap() {
    bool failed = false;
    int status = 0;
    for (pid_t process; (process = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const Outcome::End end = outcome.ended(process, status);
      if (end == Outcome::End::no_rank || end == Outcome::End::later) continue;
      if (end == Outcome::End::failed) failed = true;
      if (end != Outcome::End::done || asked_to_end) begin_grace();
    }
    if (!failed) return;
    const bool alone = outcome.running().empty();
    say(outcome.failure() +
        (alone ? "" : fmt::format(" The others have {} s to end.", arguments.grace.count())));
  }

  /// Says and sends what a deadline brings to those that have not ended.
  void end_the_rest() {
    const std::vector<int> running = outcome.running();
    const bool first = stage == Stage::waiting;
    const std::string then =
        first ? fmt::format("SIGTERM, and in {} s SIGKILL", last_wait.count()) : "SIGKILL";
    if (running.empty())
      say("The ranks have ended, but not all processes that they have started: " + then + ".");
    else
      say(fmt::format("{} {} not ended: {}.", ranks_text(running),
                      running.size() == 1 ? "has" : "have", then));
    group.signal(first ? SIGTERM : SIGKILL);
    group.signal(SIGCONT);  // a stopped process takes no SIGTERM
    stage = first ? Stage::terminated : Stage::killed;
    deadline.reset();
    if (first) deadline = Clock::now() + last_wait;
  }

  /// Waits until the last lines are read, unless a signal comes.
  void wait_for_reader() {
    for (;;) {
      pollfd waited[]{{output.finished(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}};
      ::poll(waited, 2, -1);
      if (waited[0].revents) return;
      while (const int signal = signals.next())
        if (asks_to_end(signal) || signal == SIGQUIT) std::_Exit(outcome.code());
    }
  }
};

int run(int argc, char** argv) {
  cli::prepare_standard_streams();
  const std::string program = argc > 0 ? argv[0] : "sinter-launch";
  const std::string name = program.substr(program.rfind('/') + 1);
  try {
    const Parsed parsed = parse({argv + (argc > 0), argv + argc}, program);
    if (!parsed.arguments) {
      cli::print_result(parsed.text);
      return cli::exit_done;
    }
    refuse_in_a_rank();
    Signals signals;
    return Launch(*parsed.arguments, signals, name).run();
  } catch (const cli::UsageError& error) {
    cli::note(name + ": " + error.what());
    cli::note("'" + program + " --help' lists the options.");
    return cli::exit_usage;
  } catch (const std::exception& error) {
    cli::note(name + ": " + error.what());
    return cli::exit_error;
  }
}

}  // namespace
}  // namespace sinter::detail::launch

int main(int argc, char** argv) { return sinter::detail::launch::run(argc, argv); }

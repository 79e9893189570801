// SPDX-License-Identifier: Apache-2.0
#include "launch/outcome.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include "cli/verbs.hpp"
#include "launch/signals.hpp"

namespace sinter::detail::launch {

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "Rank " : "Ranks ";
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (r > 0) text += r + 1 < ranks.size() ? ", " : " and ";
    text += std::to_string(ranks[r]);
  }
  return text;
}

Outcome::End Outcome::ended(pid_t process, int status) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].process != process || ranks[r].end) continue;
    ranks[r].end = status;
    if (WIFEXITED(status) && WEXITSTATUS(status) == cli::exit_done) return End::done;
    if (WIFEXITED(status) && WEXITSTATUS(status) == cli::exit_stopped) return End::stopped;
    if (first_failed) return End::later;
    first_failed = int(r);
    return End::failed;
  }
  return End::no_rank;
}

std::vector<int> Outcome::running() const {
  std::vector<int> found;
  for (std::size_t r = 0; r < ranks.size(); ++r)
    if (!ranks[r].end) found.push_back(int(r));
  return found;
}

std::string Outcome::failure() const {
  const Rank& rank = ranks[std::size_t(*first_failed)];
  const std::string who = fmt::format("Rank {} (process {})", *first_failed, rank.process);
  const int status = *rank.end;
  if (WIFEXITED(status)) return fmt::format("{} has ended with {}.", who, WEXITSTATUS(status));
  return fmt::format("{} was ended by {}{}.", who, name_of_signal(WTERMSIG(status)),
                     WCOREDUMP(status) ? " (core dumped)" : "");
}

int Outcome::code() const {
  if (first_failed) {
    const int status = *ranks[std::size_t(*first_failed)].end;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  for (const Rank& rank : ranks)
    if (WEXITSTATUS(*rank.end) == cli::exit_stopped) return cli::exit_stopped;
  return cli::exit_done;
}

}  // namespace sinter::detail::launch

// SPDX-License-Identifier: Apache-2.0
#include "cli/eval_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/output.hpp"

namespace sinter::detail::cli {

using std::chrono::milliseconds;

EvalProgress::EvalProgress(std::FILE* t, std::int64_t a, Clock::time_point begin,
                           std::string_view done)
    : to(t),
      all(a),
      done_word(done),
      live(t && isatty(fileno(t))),
      next(begin + milliseconds(live ? 1000 : 5000)) {}

EvalProgress::~EvalProgress() {
  if (drawn) print_if_possible(to, "\r\033[K");
}

void EvalProgress::at(std::int64_t done, Clock::time_point now) {
  if (!to || now < next || all <= 0) return;
  const std::string text =
      live ? fmt::format("\r\033[K{} {}", bar_text(done, all, 20), done_word)
           : fmt::format("{:.0f}% {}\n", 100. * double(done) / double(all), done_word);
  print_if_possible(to, text);
  drawn = live;
  next = now + milliseconds(live ? 200 : 5000);
}

}  // namespace sinter::detail::cli

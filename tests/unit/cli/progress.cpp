// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>

#include "cli/eval_progress.hpp"
#include "cli/output.hpp"
#include "sinter/trainer/loop_times.hpp"
#include "support/message_of.hpp"

namespace sinter::detail::testing::progress_tests {
using namespace sinter::detail::cli;

StepRecord record_of(std::int64_t step, double tokens_per_s) {
  StepRecord record;
  record.step = step;
  record.loss = 2.5;
  record.gradient_norm = 1.5;
  record.learning_rate = 1e-3;
  record.tokens_per_s = tokens_per_s;
  record.step_ms = 1000;
  return record;
}

/// What is written to a file that is no terminal.
std::string written(auto write) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file);
  write(file);
  std::rewind(file);
  std::string text(4096, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

/// What is written to a terminal of so many columns.
std::string written_to_terminal(unsigned short columns, auto write) {
  const int own = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(own >= 0);
  REQUIRE(::grantpt(own) == 0);
  REQUIRE(::unlockpt(own) == 0);
  const int other = ::open(::ptsname(own), O_RDWR | O_NOCTTY);
  REQUIRE(other >= 0);
  const winsize size{24, columns, 0, 0};
  ::ioctl(other, TIOCSWINSZ, &size);
  std::FILE* terminal = ::fdopen(other, "w");
  write(terminal);
  ::fcntl(own, F_SETFL, O_NONBLOCK);
  std::string text;
  char part[512];
  for (ssize_t count; (count = ::read(own, part, sizeof part)) > 0;)
    text.append(part, std::size_t(count));
  std::fclose(terminal);
  ::close(own);
  return text;
}

TEST_CASE("a bar and its percentage reach the end only when all is done") {
  CHECK(bar_text(0, 10, 10) == "[>         ]   0%");
  CHECK(bar_text(4, 10, 10) == "[====>     ]  40%");
  CHECK(bar_text(999'999, 1'000'000, 10) == "[=========>]  99%");
  CHECK(bar_text(10, 10, 10) == "[==========] 100%");
  CHECK(bar_text(0, 0, 10) == "[==========] 100%");
  CHECK(bar_text(11, 10, 10) == "[==========] 100%");
}

TEST_CASE("the live line has a bar and fits its terminal, and lines that stay have none") {
  auto steps = [](std::FILE* terminal) {
    Progress progress(terminal, {10, 1e9});
    progress.step(record_of(4, 2000), 0);
    progress.step(record_of(10, 2000), 0);
  };
  const std::string narrow = written_to_terminal(80, steps), wide = written_to_terminal(200, steps);
  CHECK(narrow.starts_with(
      "[====>     ]  40% step  4/10 loss 2.500 lr 1.0e-03 2.00 ktok/s 0:06 left"));
  CHECK(
      wide.starts_with("[========>           ]  40% step  4/10 loss 2.500 norm 1.5 lr 1.0e-03 "
                       "2.00 ktok/s 2.00 TFLOP/s 0:06 left"));
  for (const std::string& text : {narrow, wide}) {
    CHECK(text.find('\r') <= 130);
    CHECK(contains(text, "\r\033[Kstep 10/10  loss 2.5000  norm 1.5"));
  }
  CHECK(narrow.find('\r') < 80);
  CHECK_FALSE(contains(written(steps), "%"));
}

TEST_CASE("the live line of an evaluation has a bar") {
  using namespace std::chrono_literals;
  const std::string text = written_to_terminal(80, [](std::FILE* terminal) {
    const EvalProgress::Clock::time_point begin{};
    EvalProgress(terminal, 200, begin).at(50, begin + 2s);
  });
  CHECK(contains(text, "[=====>              ]  25% evaluated"));
}

TEST_CASE("the best evaluation is marked, and others say where it is") {
  const std::string text = written([](std::FILE* file) {
    Progress progress(file, {10, 1});
    StepRecord record = record_of(4, 100);
    record.validation_loss = 3;
    progress.step(record, 4);
    record.step = 8;
    progress.step(record, 4);
    record.step = 9;
    progress.step(record, 0);
  });
  CHECK(contains(text, "validation loss 3.0000, the best so far\n"));
  CHECK(contains(text, "validation loss 3.0000, best at step 4\n"));
  CHECK(text.ends_with("validation loss 3.0000\n"));
}

TEST_CASE("warnings of one kind are shown once, and counted at the end") {
  const std::string text = written([](std::FILE* file) {
    Progress progress(file, {10, 1});
    for (int step : {1, 12, 123}) progress.warn_once("row " + std::to_string(step) + " is lost");
    progress.warn_once("other\nother");
    progress.warn("each");
    progress.warn("each");
    for (int step : {7, 89})
      progress.warn("step " + std::to_string(step) + " is skipped: there is nothing to predict");
    progress.end();
    progress.end();
  });
  CHECK(text ==
        "warning: row 1 is lost\nwarning: other\nwarning: each\nwarning: each\n"
        "warning: step 7 is skipped: there is nothing to predict\n"
        "warning: 1 more time: other\nwarning: 2 more times: row 1 is lost\n"
        "warning: 1 more time: step 7 is skipped: there is nothing to predict\n");
}

TEST_CASE("a warning on the time of data and of logging is shown once each") {
  using std::chrono::milliseconds;
  LoopTimes times;
  std::int64_t told = 0;
  const std::string text = written([&](std::FILE* file) {
    Progress progress(file, {10, 1});
    for (int share : {30, 70, 150}) {
      std::string warnings;
      for (int step = 0; warnings.empty() && step < 100; ++step) {
        times.add(LoopStage::read, milliseconds(share));
        times.add(LoopStage::record, milliseconds(share));
        warnings = times.lap(1000);
      }
      told += std::ranges::count(warnings, '\n') + 1;
      progress.warn(warnings);
    }
    progress.end();
  });
  CHECK(told == 6);
  CHECK(std::ranges::count(text, '\n') == 4);
  CHECK(contains(text, "warning: 2 more times: waiting for data took 3.0%"));
  CHECK(contains(text, "warning: 2 more times: logging took 3.0%"));
}

TEST_CASE("the end says the mean of all steps and the median step") {
  const std::string text = written([](std::FILE* file) {
    Progress progress(file, {300'000, 1});
    for (int step = 1; step <= 200'000; ++step)
      progress.step(record_of(step, step % 4 == 0 ? 100 : 1000), 0);
    progress.end();
  });
  CHECK(text.ends_with(
      "\nSpeed: mean 775 tok/s over 200,000 steps, median 1,000 tok/s of a step.\n"));
}

}  // namespace sinter::detail::testing::progress_tests

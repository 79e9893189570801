// SPDX-License-Identifier: Apache-2.0
// Signals, and readers of the output who stall, go away or are not there.
#include <fcntl.h>
#include <sys/stat.h>

#include "binary/support.hpp"

namespace sinter::detail::testing::signals_tests {

/// Words for a run that does not end by itself.
Words endless(const Scratch& scratch, const std::string& out) {
  return {"train",
          "--data",
          write(scratch / "text", some_text(3000)),
          "--steps",
          "9999999",
          "--schedule.steps",
          "9999999",
          "--save-every",
          "5",
          "--out",
          out};
}

void wait_for_steps(const std::string& run_folder, std::size_t steps) {
  REQUIRE(wait_for(
      [&] { return fs::exists(run_folder + "/last") && metrics(run_folder).size() > steps; }));
}

/// A FIFO that is full, and that nobody reads while this lives.
class FullPipe {
  int both_ends;

 public:
  explicit FullPipe(const std::string& path) {
    REQUIRE(::mkfifo(path.c_str(), 0666) == 0);
    both_ends = ::open(path.c_str(), O_RDWR | O_NONBLOCK);
    REQUIRE(both_ends >= 0);
    const std::string much(4096, 'x');
    while (::write(both_ends, much.data(), much.size()) > 0) {
    }
  }
  ~FullPipe() { ::close(both_ends); }
};

TEST_CASE("further SIGTERMs change nothing, even while the process exits") {
  Scratch scratch;
  std::string out = scratch / "run";
  Process process(SINTER_SMALL, endless(scratch, out));
  wait_for_steps(out, 8);
  while (!process.has_ended()) {
    process.signal(SIGTERM);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  CHECK(process.wait().code == 75);
}

TEST_CASE("a second SIGINT ends the run at once, and a resume goes on from the older checkpoint") {
  Scratch scratch;
  std::string out = scratch / "run";
  Process process(SINTER_SMALL, endless(scratch, out));
  wait_for_steps(out, 8);
  process.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::microseconds(100));  // else the two may be one
  process.signal(SIGINT);
  int code = process.wait().code;
  const bool had_ended_before = code == 75;
  CHECK((code == 130 || had_ended_before));
  std::string target = std::to_string(newest_step(out) + 3);
  fine({"train", "--data", scratch / "text", "--schedule.steps", "9999999", "--resume", "--out",
        out, "--steps", target});
}

TEST_CASE("a reader of standard output who stalls holds nothing up") {
  Scratch scratch;
  std::string out = scratch / "run", pipe = scratch / "pipe";
  FullPipe full(pipe);
  Process process(SINTER_SMALL, endless(scratch, out), "", pipe);
  wait_for_steps(out, 50);
  process.signal(SIGTERM);
  CHECK(process.wait().code == 75);
}

TEST_CASE("a result waits for its reader, but not beyond a signal") {
  Scratch scratch;
  std::string out = scratch / "run", pipe = scratch / "pipe";
  FullPipe full(pipe);
  Words words{"train", "--data", write(scratch / "text", some_text(3000)), "--steps", "3", "--json",
              "--out", out};
  Process process(SINTER_SMALL, words, "", pipe);
  wait_for_steps(out, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(!process.has_ended());
  while (!process.has_ended()) {  // the first may come before the result
    process.signal(SIGTERM);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  Ended ended = process.wait();
  CHECK(ended.code == 1);
  CHECK(ended.says("A signal came while standard output waited for its reader"));
  CHECK(newest_step(out) == 3);
}

TEST_CASE("output written to a closed stream gets into no file of the run") {
  Scratch scratch;
  std::string out = scratch / "run";
  Words words{"-c",         "exec \"$0\" \"$@\" <&- >&- 2>&-",
              SINTER_SMALL, "train",
              "--data",     write(scratch / "text", some_text(3000)),
              "--steps",    "7",
              "--out",      out};
  CHECK(run(words, "/bin/sh").code == 0);
  CHECK(metrics(out).size() == 7);  // each line is JSON
  std::string lock = content(out + "/lock");
  CHECK(lock.starts_with("pid "));
  CHECK(lock.find("\nrun ") != lock.npos);
  CHECK(std::count(lock.begin(), lock.end(), '\n') == 2);  // and nothing else
}

TEST_CASE("when the log cannot grow, the state at hand is saved before the run ends") {
  Scratch scratch;
  std::string out = scratch / "run";
  Words words{"train",
              "--data",
              write(scratch / "text", some_text(3000)),
              "--steps",
              "9999",
              "--schedule.steps",
              "0",
              "--save-every",
              "0",
              "--eval-every",
              "100000",
              "--out",
              out};
  Ended ended = Process(SINTER_SMALL, words, "", "", {.max_bytes = 100'000}).wait();
  CHECK(ended.code == 1);
  CHECK(ended.says("metrics.jsonl"));
  CHECK(ended.says("The state after step " + std::to_string(newest_step(out)) + " is saved in "));
  CHECK(std::size_t(newest_step(out)) == metrics(out).size() + 1);
}

}  // namespace sinter::detail::testing::signals_tests

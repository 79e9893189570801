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

TEST_CASE("a result that nobody can read is an error, which is said once") {
  Scratch scratch;
  const std::string weights = scratch / "fresh", text = write(scratch / "text", some_text(300));
  fine({"export", "--out", weights});
  const ReaderGone gone;
  for (const Words& words :
       {Words{"describe"}, Words{"eval", "--weights", weights, "--data", text},
        Words{"generate", "--weights", weights, "--prompt", "the ", "--tokens", "1000000000"},
        Words{"generate", "--weights", weights, "--prompt", "the ", "--tokens", "9", "--json"}})
    for (const auto& [to, why] :
         {std::pair{gone.word(), "Broken pipe"}, {std::string("&-"), "Bad file descriptor"}}) {
      CAPTURE(words);
      const Ended ended =
          run(Words{"-c", "exec \"$0\" \"$@\" >" + to, SINTER_SMALL} + words, "/bin/bash");
      CHECK(ended.code == 1);
      const std::string error = std::string("error: Cannot write to standard output: ") + why;
      CHECK_MESSAGE(ended.says(error + ".\n"), ended.err);
      CHECK(ended.err.find(error) == ended.err.rfind("error: "));
    }
}

TEST_CASE("a run goes on without readers, at whatever time they go, and only --json fails") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000));
  const ReaderGone gone;
  const std::string both = "exec \"$0\" \"$@\" >" + gone.word() + " 2>" + gone.word();
  const std::string later = "\"$0\" \"$@\" 2>&1 | head -n 1; exit ${PIPESTATUS[0]}";
  const auto trained = [&](const std::string& command, const Words& more = {}) {
    const std::string out = scratch / "run";
    fs::remove_all(out);
    const int code = run(Words{"-c", command, SINTER_SMALL, "train", "--data", text, "--steps",
                               "30", "--out", out} +
                             more,
                         "/bin/bash")
                         .code;
    CHECK(metrics(out).size() == 30);
    CHECK(newest_step(out) == 30);
    return code;
  };
  CHECK(trained(both) == 0);
  CHECK(trained(later) == 0);
  CHECK(trained(both, {"--json"}) == 1);
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

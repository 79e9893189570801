// SPDX-License-Identifier: Apache-2.0
// `--data -`: data from standard input, which is read whole.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "binary/support.hpp"
#include "sinter/data/token_file.hpp"

namespace sinter::detail::testing::piped_data_tests {

/// Runs a binary whose standard input is what a shell redirects to it, as in "< FILE".
Ended redirected(const std::string& from, const Words& words,
                 const std::string& binary = SINTER_SMALL) {
  std::string command = "'" + binary + "'";
  for (const std::string& word : words) command += " '" + word + "'";
  return run({"-c", command + " " + from}, "/bin/bash");
}
Ended piped(const std::string& file, const Words& words, const std::string& binary = SINTER_SMALL) {
  return redirected("< <(cat '" + file + "')", words, binary);
}

TEST_CASE("a run on a pipe is the run on the file, goes on with the same text, and with no other") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(20'000)),
                    other = write(scratch / "other", some_text(20'001)), whole = scratch / "whole",
                    parts = scratch / "parts";
  const Words train{"train", "--threads", "1", "--eval-every", "10", "--seed", "3", "--out"};
  const Words pipe{"--data", "-"};
  fine(train + Words{whole, "--steps", "20", "--data", text});
  const Ended first = piped(text, train + Words{parts, "--steps", "10"} + pipe);
  CHECK(first.code == 0);
  CHECK(first.says(
      "standard input was read whole: 20,000 bytes, which messages call /proc/self/fd/"));
  const Words resume = train + Words{parts, "--steps", "20", "--resume"};
  CHECK(piped(other, resume).code == 1);
  const Ended ended = piped(text, resume);
  CHECK(ended.code == 0);
  CHECK(ended.says("the data are -, as before."));
  require_same_end(whole, parts);
  check_refused(redirected("< /dev/null", resume), 1, "Standard input is empty");
}

TEST_CASE("eval reads texts and records from a pipe, also compressed ones") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(5'000)), weights = scratch / "run";
  fine({"train", "--data", text, "--steps", "2", "--out", weights, "--quiet"});
  const Words eval{"eval", "--weights", weights, "--json", "--data"};
  const Json want = fine(eval + Words{text}).json();
  CHECK(piped(text, eval + Words{"-", "--quiet"}).json() == want);
  CHECK(redirected("< '" + text + "'", eval + Words{"-"}).json() == want);
  CHECK(redirected("< <(gzip -c '" + text + "')", eval + Words{"-"}).json() == want);

  std::string lines;
  for (int k = 0; k < 20; ++k)
    lines += R"({"instruction": "up", "output": "down"})"
             "\n";
  const std::string records = write(scratch / "a.jsonl", lines), chats = scratch / "chats";
  fine({"train", "--data", records, "--steps", "2", "--out", chats, "--quiet"}, SINTER_CHATS);
  const Words of_chats{"eval", "--weights", chats, "--json", "--data"};
  CHECK(piped(records, of_chats + Words{"-"}, SINTER_CHATS).json() ==
        fine(of_chats + Words{records}, SINTER_CHATS).json());
}

TEST_CASE("tokens of a pipe are those of the file, and none of them are kept") {
  Scratch scratch;
  setenv("SINTER_CACHE", (scratch / "cache").c_str(), 1);
  const std::string tokenizer = SINTER_SOURCE_DIR "/tests/data/tokenizer/qwen2.json",
                    text = write(scratch / "text", some_text(20'000));
  auto made = [&](const std::string& name) { return scratch / name; };
  const Words tokenize{"tokenize", "--tokenizer", tokenizer, "--quiet", "--out"};
  fine(tokenize + Words{made("file"), "--data", text}, SINTER_WORDED);
  CHECK(piped(text, tokenize + Words{made("pipe"), "--data", "-"}, SINTER_WORDED).code == 0);
  CHECK(TokenFile(made("pipe")).hash() == TokenFile(made("file")).hash());
  const Ended trained = piped(
      text,
      {"train", "--data", "-", "--tokenizer", tokenizer, "--steps", "2", "--out", scratch / "run"},
      SINTER_WORDED);
  CHECK_MESSAGE(trained.code == 0, trained.err);
  CHECK(!trained.says("are kept in"));
  CHECK(fs::is_empty(scratch / "cache/tokens"));
  const Words learn{"train-tokenizer", "--size", "300", "--quiet", "--out"};
  fine(learn + Words{made("a.json"), "--data", text}, SINTER_WORDED);
  CHECK(piped(text, learn + Words{made("b.json"), "--data", "-"}, SINTER_WORDED).code == 0);
  CHECK(content(made("a.json")) == content(made("b.json")));
}

TEST_CASE("an empty pipe, a terminal, another path beside and --validation - are refused") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(5'000));
  const Words train{"train", "--steps", "2", "--out", scratch / "run", "--data"};
  check_refused(redirected("< <(true)", train + Words{"-"}), 1,
                "Standard input is empty, and --data - reads it.");
  check_refused(piped(text, train + Words{"-", text}), 2, "is standard input, which stands alone");
  check_refused(piped(text, train + Words{text, "--validation", "-"}), 2,
                "only --data reads standard input");
  CHECK(!fs::exists(scratch / "run"));
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) {
    MESSAGE("skipped: there are no terminals here");
    return;
  }
  const std::string own = std::string("< ") + ptsname(terminal);
  check_refused(redirected(own, train + Words{"-"}), 2,
                "--data - reads standard input, which is a terminal.");
  close(terminal);
}

}  // namespace sinter::detail::testing::piped_data_tests

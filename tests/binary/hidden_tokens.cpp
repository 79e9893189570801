// SPDX-License-Identifier: Apache-2.0
// Texts in which nothing can be hidden, from the command line: of batches the run says so once, and of
// validation data before it begins.
#include "binary/support.hpp"

namespace sinter::detail::testing::hidden_tokens_tests {

/// So many batches of words, of four sequences of eight tokens, or of special tokens alone.
std::string batches(int count, const std::string& word) {
  std::string text;
  for (int k = 0; k < 32 * count; ++k) text += word + " ";
  return text;
}

TEST_CASE("batches of special tokens alone are said once, and such validation data are refused") {
  Scratch scratch;
  setenv("SINTER_CACHE", (scratch / "cache").c_str(), 1);
  const std::string vocabulary = write(scratch / "vocab.txt",
                                       "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nrain\nsun\n"),
                    text = write(scratch / "text",
                                 batches(1, "rain") + batches(3, "[SEP]") + batches(4, "sun")),
                    good = write(scratch / "good", batches(2, "sun")),
                    bad = write(scratch / "bad", batches(2, "[SEP]"));
  const Words train{"train",  "--tokenizer", vocabulary, "--special-tokens", "off",
                    "--data", text,          "--order",  "sequential",       "--threads",
                    "1",      "--steps",     "3"};
  const Ended ended = fine(train + Words{"--out", scratch / "run"}, SINTER_HIDDEN);
  const auto times = [&](const std::string& what) {
    int count = 0;
    for (std::size_t at = 0; (at = ended.out.find(what, at)) != what.npos; ++at) ++count;
    return count;
  };
  CAPTURE(ended.out);
  CHECK(times("warning: step 2 is skipped: there is nothing to predict in its batch") == 1);
  CHECK(times("warning: 2 more times: step 2 is skipped: there is nothing to predict") == 1);
  int skipped = 0;
  for (const Json& row : metrics(scratch / "run")) skipped += row.value("event", "") == "skipped";
  CHECK(skipped == 3);

  const Ended refused =
      run(train + Words{"--out", scratch / "no", "--validation", good, "x=" + bad}, SINTER_HIDDEN);
  check_refused(refused, 1,
                "The data for evaluation 'x' (--validation " + bad + ") have nothing to predict");
  CHECK(!fs::exists(scratch / "no"));
  fine(train + Words{"--out", scratch / "never", "--eval-every", "0", "--validation", bad},
       SINTER_HIDDEN);
}

}  // namespace sinter::detail::testing::hidden_tokens_tests

// SPDX-License-Identifier: Apache-2.0
// The verb train-tokenizer.
#include "binary/support.hpp"

namespace sinter::detail::testing::train_tokenizer_tests {

const std::string text = SINTER_SOURCE_DIR "/tests/data/tokenizer/trained.txt";

void refuses(const Words& words, int code, const std::string& message) {
  check_refused(run(words), code, message);
}

TEST_CASE("train-tokenizer writes the tokenizer that tokenizers makes, and other verbs read it") {
  Scratch scratch;
  const std::string out = scratch / "tokenizer.json";
  const Ended made = fine({"train-tokenizer", "--data", text, "--size", "500", "--min-frequency",
                           "2", "--special", "<|endoftext|>", "--out", out, "--json"});
  CHECK(made.json()["tokens"] == 500);
  CHECK(made.json()["merges"] == 243);
  CHECK(made.json()["out"] == out);
  CHECK(Json::parse(content(out)) ==
        Json::parse(content(SINTER_SOURCE_DIR "/tests/data/tokenizer/trained.json")));
  const Ended ids = fine({"tokenize", "--tokenizer", out, "--text", text, "--json"});
  const std::string saved = write(scratch / "ids", ids.out);
  CHECK(fine({"detokenize", "--tokenizer", out, "--ids", saved}).out == content(text));
}

TEST_CASE(
    "for people, train-tokenizer says what it learnt, and where there was less than asked for") {
  Scratch scratch;
  const std::string file = write(scratch / "text", "ab ab ab");
  const std::string out = scratch / "a.json";
  const Ended made = fine({"train-tokenizer", "--data", file, "--size", "1000", "--out", out});
  CHECK(made.out == "258 tokens, learnt from 8 bytes, in " + out + "\n");
  CHECK(made.says("no more pairs that come at least 1 times"));
  const Ended quiet = fine(
      {"train-tokenizer", "--data", file, "--size", "1000", "--quiet", "--out", scratch / "b"});
  CHECK(quiet.err.empty());
}

TEST_CASE("train-tokenizer keeps what is there, and leaves nothing behind where it fails") {
  Scratch scratch;
  const std::string out = write(scratch / "there.json", "mine");
  refuses({"train-tokenizer", "--data", text, "--size", "300", "--out", out}, 1,
          "there.json is there already. Nothing was written");
  CHECK(content(out) == "mine");
  const std::string other = scratch / "other.json";
  refuses({"train-tokenizer", "--data", text, "--size", "255", "--out", other}, 1,
          "A tokenizer of 255 tokens cannot be trained");
  refuses({"train-tokenizer", "--data", scratch / "none", "--size", "300", "--out", other}, 1,
          "none");
  CHECK(!std::filesystem::exists(other));
}

TEST_CASE("train-tokenizer refuses what is no text, unless it is told that it is") {
  Scratch scratch;
  const Words train{"train-tokenizer", "--data", write(scratch / "a.tsv", "ab\tab\n"),
                    "--size",          "257",    "--out",
                    scratch / "o"};
  refuses(train, 1, "a.tsv' as data: it is a table with tabs (TSV)");
  CHECK(!std::filesystem::exists(scratch / "o"));
  fine(train + Words{"--as-text"});
}

TEST_CASE("train-tokenizer says what it lacks") {
  refuses({"train-tokenizer", "--size", "300", "--out", "x"}, 2,
          "train-tokenizer needs --data PATH...");
  refuses({"train-tokenizer", "--data", text, "--out", "x"}, 2, "train-tokenizer needs --size N");
  refuses({"train-tokenizer", "--data", text, "--size", "300"}, 2,
          "train-tokenizer needs --out FILE");
  refuses({"train-tokenizer", "--data", text, "--size", "0", "--out", "x"}, 2,
          "--size takes a whole number of at least 1");
}

}  // namespace sinter::detail::testing::train_tokenizer_tests

// SPDX-License-Identifier: Apache-2.0
// Training a BPE: tests/support/train_with_tokenizers.py has written the reference in
// tests/data/tokenizer.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "data/tokenizer/bpe_trainer.hpp"
#include "sinter/data/tokenizer/train.hpp"
#include "support/python.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::train_tokenizer_tests {

using Json = nlohmann::ordered_json;

const std::string text = references / "trained.txt";

TokenizerTraining as_reference() {
  return {.size = 500, .min_frequency = 2, .special = {"<|endoftext|>"}};
}

Json trained(const std::vector<std::string>& paths, const TokenizerTraining& training) {
  return Json::parse(train_tokenizer(DataFiles(paths), training).json);
}

std::vector<std::string> merges_of(const Json& json) {
  std::vector<std::string> merges;
  for (const Json& merge : json["model"]["merges"])
    merges.push_back(merge[0].get<std::string>() + " " + merge[1].get<std::string>());
  return merges;
}

/// The merges of words with so many occurrences, until none is left.
std::vector<std::string> merges_of_words(const std::map<std::string, std::int64_t>& words) {
  BpeTrainer trainer({});
  const LearntBpe bpe = trainer.train({words.begin(), words.end()}, 1000, 1, {});
  std::vector<std::string> merges;
  for (const Merge& merge : bpe.merges)
    merges.push_back(bpe.tokens[std::size_t(merge.left)] + " " +
                     bpe.tokens[std::size_t(merge.right)]);
  return merges;
}

TEST_CASE("the pair that comes most often is merged first, of equal ones the one of lower ids") {
  using Merges = std::vector<std::string>;
  CHECK(merges_of_words({{"ab", 3}, {"bc", 4}, {"cd", 4}}) == Merges{"b c", "c d", "a b"});
  // "a a" comes five times, and once what overlaps is merged, "aa a" twice and "aa aa" once.
  CHECK(merges_of_words({{"aaa", 1}, {"aaaa", 1}}) == Merges{"a a", "aa a", "aa aa"});
  // Merging b c takes pairs from a b, which then comes less often than d e.
  CHECK(merges_of_words({{"abc", 5}, {"bc", 9}, {"de", 3}, {"ab", 1}}) ==
        Merges{"b c", "a bc", "d e", "a b"});
}

TEST_CASE("a trained tokenizer is the file that tokenizers makes of the same text") {
  const Json expected = Json::parse(get(references / "trained.json"));
  CHECK(trained({text}, as_reference()) == expected);
  TokenizerTraining threads = as_reference();
  for (int count : {1, 3}) {
    threads.threads = count;
    CHECK(trained({text}, threads) == expected);
  }
}

TEST_CASE("large files give the same whatever the threads, and compressed ones as their content") {
  TemporaryFolder folder;
  std::string large;  // above a megabyte, so that threads share it
  const std::string small = get(text);
  for (int k = 0; k < 500; ++k) large += small + std::to_string(k * 7919) + "\n";
  const std::string file = put(folder / "large", large);
  TokenizerTraining training{.size = 600, .threads = 1};
  const std::string one = train_tokenizer(DataFiles({file}), training).json;
  training.threads = 4;
  CHECK(train_tokenizer(DataFiles({file}), training).json == one);
  REQUIRE(std::system(("gzip -k '" + file + "'").c_str()) == 0);
  CHECK(train_tokenizer(DataFiles({file + ".gz"}), training).json == one);
}

TEST_CASE("each line is a text of its own, and so is each file") {
  TemporaryFolder folder;
  const std::string lines = put(folder / "lines", "x\n\n\nx\n\n\n");
  CHECK(merges_of(trained({lines}, {.size = 300})).empty());
  const std::string a = put(folder / "a", "12"), b = put(folder / "b", "34");
  CHECK(merges_of(trained({a, b}, {.size = 300})) == std::vector<std::string>{"1 2", "3 4"});
  const std::string together = put(folder / "together", "1234");
  CHECK(merges_of(trained({together}, {.size = 300})).size() == 3);
}

TEST_CASE("a trained tokenizer is read, gives any bytes again, and knows its special tokens") {
  TemporaryFolder folder;
  const std::string bad = "\xff\xfe and \xc3\xc3";
  std::string often;
  for (int k = 0; k < 500; ++k) often += bad + "\n";
  const std::string file = put(folder / "bytes", often);
  const TrainedTokenizer made = train_tokenizer(
      DataFiles({text, file}), {.size = 400, .special = {"<|endoftext|>", "<|user|>"}});
  CHECK(made.tokens == 400);
  CHECK(made.merges == 400 - 258);
  const Tokenizer tokenizer = load_tokenizer(put(folder / "tokenizer.json", made.json));
  CHECK(tokenizer.vocabulary == 400);
  REQUIRE(tokenizer.special.size() == 2);
  CHECK(tokenizer.special[1].id == 1);
  const std::vector<std::int32_t> ids = tokenizer.encode("dogs<|user|>" + bad);
  CHECK(tokenizer.text_of(ids) == "dogs<|user|>" + bad);
  CHECK(std::ranges::count(ids, 1) == 1);
  CHECK(tokenizer.encode("\xff\xfe").size() == 1);
}

TEST_CASE("where the text has no more pairs, there are fewer tokens than were asked for") {
  TemporaryFolder folder;
  const std::string file = put(folder / "short", "abab abab ab");
  const TrainedTokenizer all = train_tokenizer(DataFiles({file}), {.size = 1000});
  CHECK(all.tokens == 256 + all.merges);
  CHECK(all.words == 3);
  CHECK(merges_of(Json::parse(all.json)).front() == "a b");
  CHECK(merges_of(trained({file}, {.size = 1000, .min_frequency = 3})) ==
        std::vector<std::string>{"a b"});
}

TEST_CASE("a callback is told what is counted and merged, and ends the work if it throws") {
  std::int64_t counted = 0, merged = 0;
  const DataFiles files({text});
  TokenizerTraining training{.size = 300,
                             .counted = [&](std::int64_t bytes) { counted = bytes; },
                             .merged = [&](std::int64_t tokens) { merged = tokens; }};
  (void)train_tokenizer(files, training);
  CHECK(counted == files.total_bytes());
  CHECK(merged == 300);
  training.counted = [](std::int64_t) { throw Error("stop"); };
  CHECK_THROWS_WITH_AS((void)train_tokenizer(files, training), "stop", Error);
}

TEST_CASE("sizes and special tokens that cannot be are refused") {
  const DataFiles files({text});
  auto refuses = [&](const TokenizerTraining& training, const char* message) {
    CHECK_THROWS_WITH_AS((void)train_tokenizer(files, training), doctest::Contains(message),
                         ArgumentError);
  };
  refuses({.size = 255}, "A tokenizer of 255 tokens cannot be trained: 256 are there before");
  refuses({.size = 256, .special = {"<s>"}}, "256 bytes and 1 special token, and");
  refuses({.size = (1 << 24) + 1}, "16777216 are the most");
  refuses({.size = 300, .special = {""}}, "A special token is empty");
  refuses({.size = 300, .special = {"<s>", "<s>"}}, "'<s>' is there twice");
  refuses({.size = 300, .special = {"\xff"}}, "'\\xff' is no UTF-8");
  CHECK(train_tokenizer(files, {.size = 257, .special = {"<s>"}}).merges == 0);
}

TEST_CASE("real text gives the file of tokenizers, where SINTER_PYTHON has it") {
  const auto python = python_with("tokenizers");
  if (!python) return;
  const fs::path data = SINTER_TEST_DATA;
  if (!fs::exists(data / "wikitext2")) {
    MESSAGE("skipped: " << data << " is not there");
    return;
  }
  TemporaryFolder folder;
  std::string texts;
  for (const char* name : {"tinyshakespeare/input.txt.xz", "wikitext2/wiki.valid.raw.xz",
                           "dialogue/dev.turns.jsonl.xz"}) {
    const std::string to = folder / fs::path(name).filename().stem();
    REQUIRE(std::system(("xz -dc '" + (data / name).string() + "' > '" + to + "'").c_str()) == 0);
    texts += " '" + to + "'";
  }
  const std::string out = folder / "out.json";
  const std::string command =
      "'" + *python + "' '" SINTER_SOURCE_DIR "/tests/support/train_with_tokenizers.py'";
  REQUIRE(std::system(
              (command + " 8000 2 '" + out + "'" + texts + " --special '<s>' '</s>'").c_str()) ==
          0);
  const Json expected = Json::parse(get(out));
  fs::remove(out);
  REQUIRE(expected["model"]["merges"].size() == 8000 - 258);
  CHECK(trained({folder.path().string()},
                {.size = 8000, .min_frequency = 2, .special = {"<s>", "</s>"}}) == expected);
}

}  // namespace sinter::detail::testing::train_tokenizer_tests

// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/example_files.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "sinter/data/columns.hpp"
#include "sinter/data/dialogue.hpp"
#include "sinter/data/json_lines.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::example_files_tests {

OpenedData dialogues(const std::string& path, BadRecordRule rule = {}, ExampleLimits limits = {}) {
  return open_dialogues({.paths = {path}}, byte_tokenizer(), limits, rule);
}
OpenedData pairs(const std::string& path, BadRecordRule rule = {}) {
  return open_json_lines({.paths = {path}}, "question", "answer", byte_tokenizer(), {}, rule);
}

/// All that is evaluated, as text: ids that are no bytes are '<' (start), '>' (end), '_' (none).
std::string shown(OpenedData& opened, int input) {
  HostBatch batch;
  std::string text;
  while (opened.evaluation->next(batch))
    for (std::int32_t id : batch.ids[std::size_t(input)])
      text += id == 256 ? '<' : id == 257 ? '>' : id < 0 ? '_' : char(id);
  return text;
}

TEST_CASE("dialogues are read line by line, whatever else is in them") {
  TemporaryFolder folder;
  const std::string file =
      put(folder / "a.jsonl",
          "{\"id\": \"1\", \"turns\": [[\"USER\", \"hi\"], [\"SYSTEM\", \"y\\u00e9s\"]]}\r\n"
          "\n  \t\n"
          "{\"turns\": [[\"A\", \"alone\"]], \"more\": {\"deep\": [1, 2]}}\n"
          "{\"turns\": []}\n"
          "{\"turns\": [[\"\", \"a\"], [\"\", \"b\"], [\"\", \"c\"]]}");
  OpenedData opened = dialogues(file);
  CHECK(contains(opened.text, "3 examples of 4 dialogues in 1 file"));
  CHECK(contains(opened.text, "context 2.0 tokens (at most 3), label 3.0 (at most 5); 0.00 % are"));
  CHECK(opened.notes.empty());
  CHECK(!opened.training);
  CHECK(opened.evaluation_size == 5 + 2 + 2);
  CHECK(shown(opened, 0) == "hi<y\xc3\xa9sa<ba\nb<c");
  opened = dialogues(file);
  CHECK(shown(opened, 1) == "__y\xc3\xa9s>_b>___c>");
}

TEST_CASE("fields of JSON lines are a pair, or a text alone") {
  TemporaryFolder folder;
  const std::string file = put(folder / "a.jsonl",
                               "{\"answer\": \"no\", \"question\": \"up?\", \"n\": 1}\n"
                               "{\"question\": \"\", \"answer\": \"\"}\n");
  OpenedData opened = pairs(file);
  CHECK(contains(opened.text, "2 examples of 2 lines in 1 file"));
  CHECK(shown(opened, 0) == "up?<no<");
  OpenedData alone = JsonLines<"", "question">::open({}, {.paths = {file}});
  CHECK(shown(alone, 1) == "up?>>");
  CHECK(JsonLines<"a", "b">::text() == "a, b");
  CHECK(JsonLines<"", "b">::text() == "b");
}

TEST_CASE("a bad record is an error with its file, its line and what is expected") {
  TemporaryFolder folder;
  const std::string good = "{\"turns\": [[\"a\", \"b\"], [\"c\", \"d\"]]}\n\n";
  struct {
    const char *line, *says;
  } const cases[] = {{"{\"turns\": [[\"a\", \"b\"]", "it is not JSON ("},
                     {"[1, 2]", "it is no object, but [1,2]"},
                     {"{\"turn\": []}", "it has no field \"turns\""},
                     {"{\"turns\": \"hi\"}", "\"turns\" is no list, but \"hi\""},
                     {"{\"turns\": [\"hi\"]}", "turn 1 is no pair of speaker and text, but \"hi\""},
                     {"{\"turns\": [[\"a\", \"b\"], [\"a\", \"b\", \"c\"]]}", "turn 2 is no pair"},
                     {"{\"turns\": [[\"a\", null]]}", "the text of turn 1 is no text, but null"},
                     {"{\"turns\": [[7, \"b\"]]}", "the speaker of turn 1 is no text, but 7"},
                     {"{\"turns\": [[\"a\", \"\xff\"]]}", "it is not JSON ("},
                     {"null", "it is no object, but null"}};
  for (const auto& one : cases) {
    const std::string file = put(folder / "a.jsonl", good + one.line + "\n");
    const std::string message = message_of([&] { dialogues(file); });
    CAPTURE(message);
    CHECK(contains(message, "line 3 of '" + file + "' is bad: "));
    CHECK(contains(message, one.says));
    CHECK(
        contains(message, "Each line must be an object with \"turns\", a list of [speaker, text]"));
    CHECK(contains(message, ".bad = skip"));
  }
  const std::string nested = put(folder / "a.jsonl", std::string(100000, '['));
  CHECK(contains(message_of([&] { dialogues(nested); }), "nested deeper than 100"));
  const std::string number = put(folder / "a.jsonl", "{\"question\": 1, \"answer\": \"\"}\n");
  CHECK(contains(message_of([&] { pairs(number); }), "the field \"question\" is no text, but 1"));
}

TEST_CASE("skip leaves bad records out, counts them across files, and stops at its limit") {
  TemporaryFolder folder;
  put(folder / "1.jsonl", "{\"question\": \"a\", \"answer\": \"b\"}\nnonsense\n");
  put(folder / "2.jsonl", "{}\n{\"question\": \"c\", \"answer\": \"d\"}\n");
  OpenedData opened = pairs(folder.path().string(), {skip, 2});
  CHECK(contains(opened.notes, "left out of the data: 2 lines (line 2 of '"));
  CHECK(contains(opened.notes, "1.jsonl"));
  CHECK(shown(opened, 0) == "a<bc<d");
  const std::string message = message_of([&] { pairs(folder.path().string(), {skip, 1}); });
  CHECK(contains(message, "more than 1 line are bad"));
  CHECK(contains(message, "line 1 of '"));
  CHECK(contains(message, "2.jsonl"));
}

TEST_CASE("data without an example are refused, and so are too few to hold some out") {
  TemporaryFolder folder;
  const std::string file = put(folder / "a.jsonl", "{\"turns\": [[\"a\", \"b\"]]}\n");
  CHECK(contains(message_of([&] { dialogues(file); }), "holds no examples"));
  const std::string two =
      put(folder / "b.jsonl", "{\"turns\": [[\"a\", \"b\"], [\"a\", \"b\"]]}\n");
  CHECK_THROWS_AS(
      Dialogue<>::open({}, {.paths = {two}, .training = DataRequest::Training{.held_out = 0.1}}),
      ArgumentError);
}

TEST_CASE("the last records are held out whole") {
  TemporaryFolder folder;
  std::string lines;
  for (int k = 0; k < 20; ++k)
    lines +=
        "{\"turns\": [[\"a\", \"q\"], [\"b\", \"r" + std::to_string(k) + "\"], [\"a\", \"s\"]]}\n";
  const std::string file = put(folder / "a.jsonl", lines);
  DataRequest request{.paths = {file}, .evaluation_sequences = 4};
  request.training = DataRequest::Training{
      .order = Order::sequential, .held_out = 0.1, .sequences = 6, .shapes = {}};
  OpenedData opened = Dialogue<>::open({}, request);
  CHECK(contains(opened.text, "40 examples of 20 dialogues in 1 file, the last 4 held out"));
  CHECK(contains(opened.text, "padding 0.0 %"));
  CHECK(opened.training->state().order == "sequential examples");
  CHECK(opened.training->state().data_size == 36);
  CHECK(shown(opened, 0) == "q<r18q\nr18<sq<r19q\nr19<s");
  HostBatch batch;
  REQUIRE(opened.training->next(batch));
  CHECK(batch.sequences() == 6);
  CHECK(opened.changed().empty());
  put(folder / "a.jsonl", lines + lines);
  CHECK(!opened.changed().empty());
}

TEST_CASE("real dialogues give one example for each turn but the first") {
  const fs::path packed = fs::path(SINTER_TEST_DATA) / "dialogue/dev.turns.jsonl.xz";
  if (!fs::exists(packed)) {
    MESSAGE("skipped: " << packed.string() << " is not there");
    return;
  }
  TemporaryFolder folder;
  const std::string file = (folder / "dev.jsonl").string();
  REQUIRE(std::system(("xz -dc '" + packed.string() + "' > '" + file + "'").c_str()) == 0);
  OpenedData opened = dialogues(file, {}, {.context = 256, .label = 256, .history = 2});
  // As Python counts: the turns but the first, and min(256, their bytes and an end).
  CHECK(contains(opened.text, "36,670 examples of 2,098 dialogues in 1 file"));
  CHECK(opened.evaluation_size == 1'829'752);
  HostBatch batch;
  std::int64_t predicted = 0;
  while (opened.evaluation->next(batch))
    for (std::int32_t id : batch.ids[1]) predicted += id >= 0;
  CHECK(predicted == opened.evaluation_size);
}

TEST_CASE("real dialogues in GPT-2's tokens are the ids that the package tokenizers gives") {
  const fs::path data = SINTER_TEST_DATA;
  if (!fs::exists(data / "dialogue/dev.turns.jsonl.xz") ||
      !fs::exists(data / "gpt2_bpe/encoder.json.xz")) {
    MESSAGE("skipped: " << data.string() << " has no dialogues, or not GPT-2's files");
    return;
  }
  TemporaryFolder folder;
  fs::copy_file(data / "gpt2_bpe/vocab.bpe", folder / "vocab.bpe");
  REQUIRE(std::system(("xz -dc '" + (data / "gpt2_bpe/encoder.json.xz").string() + "' > '" +
                       (folder / "encoder.json").string() + "'")
                          .c_str()) == 0);
  DataRequest request{.paths = {(data / "dialogue/dev.turns.jsonl.xz").string()}};
  request.tokenizer = folder.path().string();
  OpenedData opened =
      Dialogue<>::open({.text = 48, .label = 32, .history = 2, .vocabulary = 50257}, request);
  // tests/support/dialogue_in_tokens.py prints these figures.
  CHECK(contains(opened.text, "36,670 examples of 2,098 dialogues in 1 file"));
  CHECK(opened.evaluation_size == 470'660);
  HostBatch batch;
  std::int64_t shown_tokens = 0;
  std::uint64_t digest = 0;
  while (opened.evaluation->next(batch)) {
    REQUIRE(batch.sequences() == 1);
    for (std::int32_t id : batch.ids[0]) digest = digest * 31 + std::uint64_t(id);
    for (std::int32_t id : batch.ids[1]) {
      shown_tokens += id < 0;
      if (id >= 0) digest = digest * 31 + std::uint64_t(id);
    }
  }
  CHECK(shown_tokens == 916'021);
  CHECK(digest == 10317854309706499304u);
}

TEST_CASE("texts become the tokens of the tokenizer that is named, whatever the policy") {
  TemporaryFolder folder;
  const std::string path = SINTER_SOURCE_DIR "/tests/data/tokenizer/qwen2.json";
  const Tokenizer tokenizer = load_tokenizer(path);
  const std::string lines =
      put(folder / "a.jsonl", "{\"turns\": [[\"\", \"the width\"], [\"\", \"and there\"]]}\n");
  const std::string table = put(folder / "a.tsv", "q\ta\nthe width\tand there\n");
  std::vector<std::int32_t> shows = tokenizer.encode("the width"), predicts(shows.size(), -1);
  const std::vector<std::int32_t> label = tokenizer.encode("and there");
  shows.push_back(400);  // <|endoftext|>
  shows.insert(shows.end(), label.begin(), label.end());
  predicts.insert(predicts.end(), label.begin(), label.end());
  predicts.push_back(400);
  const DataRequest of_lines{.paths = {lines}, .tokenizer = path},
      of_table{.paths = {table}, .tokenizer = path};
  auto check = [&](OpenedData opened) {
    HostBatch batch;
    REQUIRE(opened.evaluation->next(batch));
    CHECK(batch.ids[0] == shows);
    CHECK(batch.ids[1] == predicts);
  };
  check(Dialogue<>::open({.vocabulary = 403}, of_lines));
  check(Columns<"q", "a">::open({.vocabulary = 403}, of_table));
  CHECK_THROWS_AS(Dialogue<>::open({}, of_lines), ArgumentError);  // 403 tokens, and room for 258
  CHECK_THROWS_AS(Dialogue<>::open({.vocabulary = 403}, {.paths = {lines}}), ArgumentError);
}

TEST_CASE("a text without tokens is an error with its file and line") {
  TemporaryFolder folder;
  const std::string file = put(folder / "a.jsonl", "{\"a\": \"fine\"}\n\n{\"a\": \"bad\"}\n");
  Tokenizer picky = byte_tokenizer();
  picky.encode = [bytes = picky.encode](std::string_view text) {
    if (text == "bad") throw ArgumentError("no token stands for it");
    return bytes(text);
  };
  const DataRequest request{.paths = {file}};
  CHECK_THROWS_WITH_AS((void)open_json_lines(request, "", "a", picky, {}, {}),
                       ("line 3 of '" + file + "': no token stands for it").c_str(), ArgumentError);
}

}  // namespace sinter::detail::testing::example_files_tests

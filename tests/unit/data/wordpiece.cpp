// SPDX-License-Identifier: Apache-2.0
// BERT's WordPiece: texts of tokens, and its vocab.txt. Ids are compared in tokenizer.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/json_rows.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::wordpiece_tests {

using Json = nlohmann::json;

const std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\nno\n##ise\n##s\n.\nn\u00e9\nne\n";

/// The folder's file vocab.txt, with a tokenizer_config.json beside it unless that is empty.
Tokenizer of_lines(const TemporaryFolder& folder, const std::string& lines,
                   const std::string& config = "") {
  put(folder / "vocab.txt", lines);
  if (!config.empty()) put(folder / "tokenizer_config.json", config);
  return load_tokenizer(folder.path());
}

void refuses_lines(const std::string& message, const std::string& lines,
                   const std::string& config = "") {
  TemporaryFolder folder;
  const std::string said = message_of([&] { of_lines(folder, lines, config); });
  CAPTURE(said);
  CHECK(contains(said, message));
  CHECK(said.starts_with("The tokenizer " + (folder / "vocab.txt").string() + " cannot be used: "));
}

void refuses_json(const std::string& message, const std::function<void(Json&)>& change) {
  TemporaryFolder folder;
  Json json = Json::parse(get(references / "bert_uncased.json"));
  change(json);
  put(folder / "t.json", json.dump());
  check_refused([&] { load_tokenizer(folder / "t.json"); }, message);
}

TEST_CASE("tokens have the text that tokenizers gives them") {
  const std::vector<Json> rows = json_rows(references / "decoded.jsonl");
  REQUIRE(rows.size() == 120);
  for (const Json& row : rows) {
    const TokenIds ids = row["ids"];
    CAPTURE(row["text"]);
    const Tokenizer tokenizer = reference_tokenizer(row["name"]);
    CHECK(tokenizer.text_of(ids) == row["text"].get<std::string>());
  }
}

TEST_CASE("truncation and padding of a tokenizer.json are of batches, and leave a text whole") {
  TemporaryFolder folder;
  Json json = Json::parse(get(references / "bert_uncased.json"));
  json["added_tokens"] = Json::array();
  for (const auto& [id, token] : {std::pair(0, "[PAD]"), {1, "[UNK]"}})
    json["added_tokens"].push_back({{"id", id},
                                    {"content", token},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  json["model"]["vocab"] = {{"[PAD]", 0}, {"[UNK]", 1}, {"a", 2}, {"b", 3}};
  json["post_processor"] = nullptr;
  json["truncation"] = {
      {"direction", "Right"}, {"max_length", 4}, {"strategy", "LongestFirst"}, {"stride", 0}};
  json["padding"] = {{"strategy", "BatchLongest"},
                     {"direction", "Right"},
                     {"pad_to_multiple_of", nullptr},
                     {"pad_id", 0},
                     {"pad_type_id", 0},
                     {"pad_token", "[PAD]"}};
  put(folder / "tokenizer.json", json.dump());
  const Tokenizer tokenizer = load_tokenizer(folder.path());
  CHECK(tokenizer.encode("a b a b a b") == TokenIds{2, 3, 2, 3, 2, 3});
  CHECK(tokenizer.encode_whole("a b a b a b") == TokenIds{2, 3, 2, 3, 2, 3});
}

TEST_CASE("a vocab.txt gives the ids of a tokenizer.json with the same pieces") {
  for (const char* name : {"bert_uncased", "bert_cased"}) {
    CAPTURE(name);
    const Json json = Json::parse(get(references / (std::string(name) + ".json")));
    std::vector<std::string> lines(json["model"]["vocab"].size());
    for (const auto& [piece, id] : json["model"]["vocab"].items())
      lines[id.get<std::size_t>()] = piece;
    std::string text;
    for (const std::string& line : lines) text += line + "\r\n";
    TemporaryFolder folder;
    // Corpora without capitals and with them tell which it is.
    const Tokenizer tokenizer = of_lines(folder, text);
    CHECK(tokenizer.special.size() == 5);
    int compared = 0;
    for (const Json& row : json_rows(references / "ids.jsonl")) {
      const TokenIds expected = row["ids"][name];
      const bool has_added = std::ranges::any_of(
          expected, [&](std::int32_t id) { return id >= tokenizer.vocabulary; });
      if (has_added) continue;
      CAPTURE(row["text"]);
      CHECK(tokenizer.encode(row["text"].get<std::string>()) == expected);
      ++compared;
    }
    CHECK(compared > 10);
  }
}

TEST_CASE("capitals count where the vocabulary has some, or as tokenizer_config.json says") {
  TemporaryFolder folder;
  CHECK(of_lines(folder, vocabulary).encode("NOise n\u00e9 x [CLS]") == TokenIds{3, 4, 8, 1, 2});
  CHECK(of_lines(folder, vocabulary + "No\n").encode("NO No no n\u00e9") == TokenIds{1, 9, 3, 7});
  CHECK(of_lines(folder, vocabulary, R"({"do_lower_case": false})").encode("NO no") ==
        TokenIds{1, 3});
  CHECK(of_lines(folder, vocabulary, R"({"do_lower_case": true, "strip_accents": false})")
            .encode("N\u00c9") == TokenIds{7});
  CHECK(load_tokenizer(folder / "vocab.txt").encode("N\u00c9") == TokenIds{7});
  const Tokenizer without = of_lines(folder, vocabulary, R"({"do_lower_case": false})");
  const Tokenizer with = of_lines(folder, vocabulary, R"({"do_lower_case": true})");
  CHECK(without.identity != with.identity);
}

TEST_CASE("BERT's own vocabulary of small letters is known as such") {
  const fs::path path = fs::path(SINTER_TEST_DATA) / "bert_vocab/vocab.txt";
  if (!fs::exists(path)) {
    MESSAGE("skipped: " << path << " is not there");
    return;
  }
  const Tokenizer tokenizer = load_tokenizer(path);
  CHECK(tokenizer.vocabulary == 30522);
  // An example of BERT's repository; the ids and the text are those of tokenizers.
  const TokenIds ids = tokenizer.encode("John Johanson's, house");
  CHECK(ids == TokenIds{2198, 13093, 3385, 1005, 1055, 1010, 2160});
  CHECK(tokenizer.text_of(ids) == "john johanson ' s, house");
  CHECK(tokenizer.decode(ids[1]) == " johan");
  CHECK(tokenizer.decode(ids[2]) == "son");
}

TEST_CASE("a text that is cut at a line has the tokens of the whole, unless tokens span lines") {
  TemporaryFolder folder;
  const Tokenizer tokenizer = of_lines(folder, vocabulary);
  CHECK(tokenizer.cuts_at_lines);
  TokenIds ids = tokenizer.encode("noise\n");
  const TokenIds behind = tokenizer.encode("nos");
  ids.insert(ids.end(), behind.begin(), behind.end());
  CHECK(tokenizer.encode("noise\nnos") == ids);
  CHECK_FALSE(reference_tokenizer("bert_uncased").cuts_at_lines);  // has "New Word"
}

TEST_CASE("words that are too long, or no UTF-8, are unknown") {
  TemporaryFolder folder;
  const Tokenizer tokenizer = of_lines(folder, vocabulary);
  std::string word = "no";
  for (int k = 0; k < 98; ++k) word += "s";
  CHECK(tokenizer.encode(word).size() == 99);
  CHECK(tokenizer.encode(word + "s") == TokenIds{1});
  CHECK(tokenizer.encode("no\xff no") == TokenIds{3, 3});  // as U+FFFD, which clean_text takes out
  CHECK(tokenizer.encode("") == TokenIds{});
  CHECK_THROWS_AS((void)tokenizer.decode(9), ArgumentError);
  CHECK_THROWS_AS((void)tokenizer.text_of(TokenIds{-1}), ArgumentError);
}

TEST_CASE("a damaged vocab.txt is refused with the line") {
  refuses_lines("lacks '[UNK]'", "a\nb\n");
  refuses_lines("its line 2 is empty", "[UNK]\n\na\n");
  refuses_lines("byte 2 of its line 2 is no UTF-8", "[UNK]\na\xff\n");
  refuses_lines("tokenizer_config.json beside it is damaged", vocabulary, "{");
  refuses_lines("is no object", vocabulary, "[]");
  refuses_lines("as 'do_lower_case'", vocabulary, R"({"do_lower_case": 1})");
  refuses_lines("as 'tokenizer_class'", vocabulary,
                R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  refuses_lines("as 'do_basic_tokenize'", vocabulary, R"({"do_basic_tokenize": false})");
  refuses_lines("as 'never_split'", vocabulary, R"({"never_split": ["a"]})");
  refuses_lines("as 'unk_token'", vocabulary, R"({"unk_token": {"content": "<unk>"}})");
}

TEST_CASE("unsupported parts of a WordPiece's tokenizer.json are named") {
  refuses_json("lacks '[unk]'", [](Json& j) { j["model"]["unk_token"] = "[unk]"; });
  refuses_json("its model has the key 'new'", [](Json& j) { j["model"]["new"] = 1; });
  refuses_json("'max_input_chars_per_word'",
               [](Json& j) { j["model"]["max_input_chars_per_word"] = -1; });
  refuses_json("type 'Precompiled'", [](Json& j) { j["normalizer"] = {{"type", "Precompiled"}}; });
  refuses_json("'clean_text'", [](Json& j) { j["normalizer"].erase("clean_text"); });
  refuses_json("its pre_tokenizer has no BertPreTokenizer",
               [](Json& j) { j["pre_tokenizer"] = nullptr; });
  refuses_json("type 'Whitespace'", [](Json& j) { j["pre_tokenizer"] = {{"type", "Whitespace"}}; });
  refuses_json("its decoder has 0 components", [](Json& j) { j["decoder"] = nullptr; });
  refuses_json("nothing is left of the added token", [](Json& j) {
    j["added_tokens"][0]["normalized"] = true;
    j["added_tokens"][0]["content"] = "\u00ad";
    j["model"]["vocab"].erase("[PAD]");
  });
}

}  // namespace sinter::detail::testing::wordpiece_tests

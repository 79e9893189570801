// SPDX-License-Identifier: Apache-2.0
// Files of tokenizers that are damaged, or have what is not understood: each is refused with what
// is wrong with it.
#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "sinter/data/tokenizer/tokenizer.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::tokenizer_files_tests {
using Json = nlohmann::ordered_json;

std::string refusal(const fs::path& path) {
  return message_of([&] { load_tokenizer(path); });
}

/// A tokenizer.json that is understood.
Json whole(const std::string& name = "llama3") {
  return Json::parse(get(references / (name + ".json")));
}

/// Checks that a file with one change is refused, with this in the message.
void refuses(const std::string& message, const std::function<void(Json&)>& change,
             const std::string& name = "llama3") {
  TemporaryFolder folder;
  Json json = whole(name);
  change(json);
  put(folder / "t.json", json.dump());
  const std::string said = refusal(folder / "t.json");
  CAPTURE(said);
  CHECK(said.find(message) != said.npos);
  CHECK(said.starts_with("The tokenizer " + (folder / "t.json").string() + " cannot be used: "));
}

/// A folder with these two files of GPT-2.
Tokenizer gpt2_of(const std::string& vocabulary, const std::string& merges) {
  TemporaryFolder folder;
  put(folder / "encoder.json", vocabulary);
  put(folder / "vocab.bpe", merges);
  return load_tokenizer(folder.path());
}
std::string refusal_of_gpt2(const std::string& vocabulary, const std::string& merges) {
  return message_of([&] { gpt2_of(vocabulary, merges); });
}

TEST_CASE("a missing tokenizer file is named") {
  TemporaryFolder folder;
  CHECK(contains(refusal(folder / "none.json"), "none.json: No such file"));
  CHECK(contains(refusal(folder.path()), "There is no tokenizer in the folder"));
  put(folder / "encoder.json", "{}");
  CHECK(contains(refusal(folder.path()), "vocab.bpe: No such file"));
}

TEST_CASE("a folder holds a tokenizer where it has a file of one") {
  for (const char* name : {"tokenizer.json", "encoder.json", "vocab.bpe", "vocab.json",
                           "merges.txt", "vocab.txt", "tokenizer.model", "spiece.model"}) {
    CAPTURE(name);
    TemporaryFolder folder;
    put(folder / "tokenizer_config.json", "{}");
    CHECK(!holds_tokenizer(folder.path()));
    put(folder / name, "");
    CHECK(holds_tokenizer(folder.path()));
  }
}

TEST_CASE("damaged JSON is refused with the place") {
  TemporaryFolder folder;
  put(folder / "t", "{\"model\": {\n \"type\": \"BPE\",, }");
  CHECK(contains(refusal(folder / "t"), "parse error at line 2, column 16"));
  put(folder / "t", "");
  CHECK(contains(refusal(folder / "t"), "parse error at line 1"));
  put(folder / "t", "[1]");
  CHECK(contains(refusal(folder / "t"), "the file is no object"));
  put(folder / "t", std::string(5000, '['));
  CHECK(contains(refusal(folder / "t"), "nested deeper than 100"));
  put(folder / "t", R"({"model": {"vocab": {"a": 0, "a": 1}}})");
  CHECK(contains(refusal(folder / "t"), "the key 'a' twice"));
  CHECK(contains(refusal_of_gpt2("{\"a\" 0}", ""), "its vocabulary is damaged"));
}

TEST_CASE("a vocabulary with ids that cannot be is refused") {
  CHECK(contains(refusal_of_gpt2(R"({"a": 0, "b": 0})", ""),
                 "the tokens 'a' and 'b' have the same id"));
  CHECK(contains(refusal_of_gpt2(R"({"a": -1})", ""), "'a' has the id -1"));
  CHECK(contains(refusal_of_gpt2(R"({"a": 20000000})", ""), "is not within 0 … 16777215"));
  CHECK(
      contains(refusal_of_gpt2(R"({"a": 99999999999})", ""), "the id of 'a' in its vocabulary is"));
  CHECK(contains(refusal_of_gpt2(R"({"a": 1.5})", ""), "is 1.5, which is no integer"));
  CHECK(contains(refusal_of_gpt2(R"({"": 0})", ""), "an empty text"));
  CHECK(contains(refusal_of_gpt2("[]", ""), "its vocabulary is no object"));
  refuses("the token 'a' has two ids", [](Json& j) { j["added_tokens"][1]["content"] = "a"; });
  refuses("have the same id, 7", [](Json& j) {
    j["added_tokens"][1]["id"] = 7;
    j["added_tokens"][1]["content"] = "<|new|>";
  });
}

TEST_CASE("merges that cannot be are refused with their line") {
  const std::string vocabulary = R"({"a": 0, "b": 1, "ab": 2})";
  CHECK(contains(refusal_of_gpt2(vocabulary, "#version: 0.2\na b\na c\n"),
                 "line 3 of vocab.bpe names 'c', which the vocabulary does not have"));
  CHECK(contains(refusal_of_gpt2(vocabulary, "a a\n"), "line 1 of vocab.bpe names 'aa'"));
  CHECK(contains(refusal_of_gpt2(vocabulary, "ab\n"), "line 1 of vocab.bpe is 'ab'; two tokens"));
  CHECK(contains(refusal_of_gpt2(vocabulary, "a b b\n"), "line 1 of vocab.bpe is 'a b b'"));
  CHECK(contains(refusal_of_gpt2(vocabulary, "a b\r\na b\n"), "merge 2 is there twice"));
  gpt2_of(vocabulary, "a b\r\n\n");
  refuses("merge 1 is no pair", [](Json& j) { j["model"]["merges"][0] = {"a"}; });
  refuses("merge 2 names 'zz', which", [](Json& j) { j["model"]["merges"][1] = "zz z"; });
  refuses("no list 'merges'", [](Json& j) { j["model"].erase("merges"); });
}

TEST_CASE("merges may be lists or, as in older files, texts") {
  TemporaryFolder folder;
  Json json = whole();
  for (Json& merge : json["model"]["merges"])
    if (merge.is_array()) merge = merge[0].get<std::string>() + " " + merge[1].get<std::string>();
  put(folder / "t", json.dump());
  put(folder / "u", whole().dump());
  const std::string text = "the quick brown dog doesn't";
  CHECK(load_tokenizer(folder / "t").encode(text) == load_tokenizer(folder / "u").encode(text));
}

TEST_CASE("the truncation and padding of batches change no ids") {
  TemporaryFolder folder;
  Json json = whole();
  json["truncation"] = {
      {"direction", "Right"}, {"max_length", 4}, {"strategy", "LongestFirst"}, {"stride", 0}};
  json["padding"] = {{"strategy", {{"Fixed", 90}}},
                     {"direction", "Right"},
                     {"pad_id", 0},
                     {"pad_type_id", 0},
                     {"pad_token", "!"},
                     {"pad_to_multiple_of", nullptr}};
  put(folder / "t", json.dump());
  const std::string text = "the quick brown dog doesn't";
  CHECK(load_tokenizer(folder / "t").encode(text) == reference_tokenizer("llama3").encode(text));
}

TEST_CASE("a token with single_word is text beside a part of a word") {
  TemporaryFolder folder;
  Json json = whole("qwen2");
  json["added_tokens"].push_back({{"id", 403},
                                  {"content", "fox"},
                                  {"single_word", true},
                                  {"lstrip", false},
                                  {"rstrip", false},
                                  {"normalized", false},
                                  {"special", false}});
  put(folder / "t", json.dump());
  const Tokenizer tokenizer = load_tokenizer(folder / "t");
  // The ids are those of tokenizers 0.23.3.
  CHECK(tokenizer.encode("fox a-fox foxy 1fox fox\u00b2 \u00e9fox fox") ==
        TokenIds{403, 220, 64,  12,  403, 293, 287, 88, 220, 16,  69, 287,
                 220, 403, 126, 110, 220, 127, 102, 69, 287, 220, 403});
  CHECK(tokenizer.encode("xfoxfox") == TokenIds{87, 69, 287, 69, 287});
}

TEST_CASE("an added token that is normalised is decoded with its blank, as by tokenizers 0.23") {
  TemporaryFolder folder;
  Json json = whole("llama2");
  json["added_tokens"].push_back({{"id", 450},
                                  {"content", "dear"},
                                  {"single_word", false},
                                  {"lstrip", false},
                                  {"rstrip", false},
                                  {"normalized", true},
                                  {"special", false}});
  put(folder / "t", json.dump());
  const Tokenizer tokenizer = load_tokenizer(folder / "t");
  const TokenIds ids = tokenizer.encode("x dear y");
  CHECK(ids == TokenIds{352, 311, 450, 352, 312});
  CHECK(tokenizer.text_of(ids) == "x dear y");
}

TEST_CASE("the template of a tokenizer.json puts tokens around a text, whatever stands beside it") {
  TemporaryFolder folder;
  const auto loaded = [&](const Json& post_processor) {
    Json json = whole("qwen2");
    json["post_processor"] = post_processor;
    put(folder / "tokenizer.json", json.dump());
    return load_tokenizer(folder.path());
  };
  const Json bos = whole("qwen2")["post_processor"], level{{"type", "ByteLevel"}};
  Json both = bos;
  both["single"].push_back(bos["single"][0]);
  for (const char* says : {"{}", R"({"add_bos_token":true})", R"({"add_bos_token":false})"}) {
    put(folder / "tokenizer_config.json", says);
    CHECK(loaded(nullptr).before.empty());
    CHECK(loaded(level).before.empty());
    CHECK(loaded(bos).before == TokenIds{400});
    CHECK(loaded(bos).behind.empty());
    CHECK(loaded(bos).encode("a") == loaded(nullptr).encode("a"));
    CHECK(loaded({{"type", "Sequence"}, {"processors", {level, both}}}).behind == TokenIds{400});
  }
  TokenIds around{400, 400};
  const TokenIds ids = loaded(both).encode("a b");
  around.insert(around.begin() + 1, ids.begin(), ids.end());
  CHECK(loaded(both).encode_whole("a b") == around);
}

TEST_CASE("a template that cannot be is refused") {
  const auto in_template = [](const char* message, auto&& change) {
    refuses(message, [&](Json& j) { change(j["post_processor"]); });
  };
  in_template("'single'", [](Json& j) { j["single"] = "$A"; });
  in_template("has none of it in 'special_tokens'", [](Json& j) { j["special_tokens"].clear(); });
  in_template("its tokens are below", [](Json& j) {
    for (auto& [name, token] : j["special_tokens"].items()) token["ids"] = {70000};
  });
  in_template("'ids'", [](Json& j) {
    for (auto& [name, token] : j["special_tokens"].items()) token["ids"] = 1;
  });
}

TEST_CASE("unsupported parts of tokenizer.json are named, never passed over") {
  refuses("its model is of the type 'Unigram'", [](Json& j) { j["model"]["type"] = "Unigram"; });
  refuses("has 0.1 as 'dropout'", [](Json& j) { j["model"]["dropout"] = 0.1; });
  refuses("'end_of_word_suffix'", [](Json& j) { j["model"]["end_of_word_suffix"] = "</w>"; });
  refuses("its model has the key 'new'", [](Json& j) { j["model"]["new"] = 1; });
  refuses("the file has the key 'more'", [](Json& j) { j["more"] = 1; });
  refuses("'truncation'", [](Json& j) { j["truncation"] = 5; });
  refuses("its normalizer has a component of the type 'Nmt'",
          [](Json& j) { j["normalizer"] = {{"type", "Nmt"}}; });
  refuses("whose matches have at least a character", [](Json& j) {
    j["normalizer"] = {{"type", "Replace"}, {"pattern", {{"Regex", "x*"}}}, {"content", "y"}};
  });
  refuses(
      "its normalizer has a component of the type 'NFC'",
      [](Json& j) { j["normalizer"]["normalizers"].push_back({{"type", "NFC"}}); }, "llama2");
  refuses("its pre_tokenizer has a component of the type 'Whitespace'",
          [](Json& j) { j["pre_tokenizer"] = {{"type", "Whitespace"}}; });
  refuses("by the pattern '\\bx', in which \\b at byte 1 is not understood",
          [](Json& j) { j["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "\\bx"; });
  refuses("MergedWithNext",
          [](Json& j) { j["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "Merged"; });
  refuses("'add_prefix_space'",
          [](Json& j) { j["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = true; });
  refuses("its decoder has a component of the type 'WordPiece'",
          [](Json& j) { j["decoder"] = {{"type", "WordPiece"}}; });
  refuses("its post_processor has a component of the type 'Other'",
          [](Json& j) { j["post_processor"] = {{"type", "Other"}}; });
  refuses("its pre_tokenizer has no 'type'", [](Json& j) { j["pre_tokenizer"] = 3; });
  refuses("neither over bytes", [](Json& j) { j["pre_tokenizer"] = nullptr; });
  refuses("no token <0x41>", [](Json& j) { j["model"]["vocab"].erase("<0x41>"); }, "llama2");
  refuses("must write blanks as ▁", [](Json& j) { j["normalizer"] = nullptr; }, "llama2");
  refuses(
      "'prepend'", [](Json& j) { j["normalizer"]["normalizers"][0]["prepend"] = "_"; }, "llama2");
  refuses(
      "'prepend_scheme'", [](Json& j) { j["pre_tokenizer"]["prepend_scheme"] = "last"; },
      "mistral");
}

TEST_CASE("a byte that has no token is an error of the text, and names it") {
  TemporaryFolder folder;
  put(folder / "encoder.json", R"({"a": 0, "b": 1, "ab": 2})");
  put(folder / "vocab.bpe", "a b\n");
  const Tokenizer tokenizer = load_tokenizer(folder.path());
  CHECK(tokenizer.encode("abba") == std::vector<std::int32_t>{2, 1, 0});
  CHECK_THROWS_WITH_AS((void)tokenizer.encode("abc"),
                       doctest::Contains("no token for the byte 0x63"), ArgumentError);
}

}  // namespace sinter::detail::testing::tokenizer_files_tests

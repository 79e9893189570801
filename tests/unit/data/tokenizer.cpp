// SPDX-License-Identifier: Apache-2.0
// Tokenizers from files: ids equal those of tiktoken and of Hugging Face's tokenizers, which
// scripts/tokenizer_reference.py has written to tests/data/tokenizer.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <thread>

#include "data/tokenizer/bpe.hpp"
#include "data/tokenizer/characters.hpp"
#include "support/json_rows.hpp"
#include "support/python.hpp"
#include "unit/data/support.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::detail::testing;

namespace {

using Json = nlohmann::json;

/// The texts of the reference, each with its ids by each tokenizer.
std::vector<Json> reference_rows() {
  std::vector<Json> rows = json_rows(references / "ids.jsonl");
  REQUIRE(rows.size() > 10);
  return rows;
}

void require_reference(const Tokenizer& tokenizer, const std::string& name) {
  for (const Json& row : reference_rows()) {
    const std::string text = row["text"];
    CAPTURE(text);
    CHECK(tokenizer.encode(text) == row["ids"][name].get<TokenIds>());
  }
}

std::string utf8(std::uint32_t code) {
  std::string text;
  append_utf8(text, code);
  return text;
}

/// Texts with what patterns tell apart, and with characters from all of Unicode.
class RandomTexts {
  std::mt19937 random{7};
  std::uint32_t below(std::uint32_t limit) { return std::uint32_t(random()) % limit; }

 public:
  std::string character() {
    static const std::string often = "  \n\t\r''sStTrReEvVlLmMdD019aZ.,!";
    switch (below(6)) {
      case 0:
      case 1:
        return {often[below(std::uint32_t(often.size()))]};
      case 2:
        return utf8(0x20 + below(0x5f));
      case 3:
        return utf8(0x80 + below(0x2f80));
      default:
        for (;;)
          if (std::uint32_t code = below(0x110000); code < 0xd800 || code > 0xdfff)
            return utf8(code);
    }
  }
  std::string next() {
    std::string text;
    for (std::uint32_t k = 1 + below(24); k > 0; --k) text += character();
    return text;
  }
  std::string bytes(std::size_t count) {
    std::string text;
    while (text.size() < count) text += below(3) ? std::string(1, char(below(256))) : character();
    return text;
  }
};

}  // namespace

TEST_CASE("GPT-2's own files give the ids of tiktoken") {
  const fs::path packed = fs::path(SINTER_TEST_DATA) / "gpt2_bpe";
  if (!fs::exists(packed / "encoder.json.xz")) {
    MESSAGE("skipped: " << packed << " is not there");
    return;
  }
  TemporaryFolder folder;
  for (bool own_names : {true, false}) {
    const fs::path files = folder / (own_names ? "gpt2" : "other");
    fs::create_directory(files);
    const std::string vocabulary = files / (own_names ? "encoder.json" : "vocab.json");
    REQUIRE(std::system(
                ("xz -dc '" + (packed / "encoder.json.xz").string() + "' > '" + vocabulary + "'")
                    .c_str()) == 0);
    fs::copy_file(packed / "vocab.bpe", files / (own_names ? "vocab.bpe" : "merges.txt"));
    const Tokenizer tokenizer = load_tokenizer(files);
    CHECK(tokenizer.vocabulary == 50257);
    REQUIRE(tokenizer.special.size() == 1);
    CHECK(tokenizer.special[0].name == "<|endoftext|>");
    CHECK(tokenizer.special[0].id == 50256);
    CHECK(tokenizer.decode(50256) == "<|endoftext|>");
    require_reference(tokenizer, "gpt2");
  }
}

TEST_CASE("files of tokenizers give its ids") {
  for (const char* name :
       {"llama3", "qwen2", "nfc", "prefixed", "llama2", "mistral", "bert_uncased", "bert_cased"}) {
    CAPTURE(name);
    const Tokenizer tokenizer = reference_tokenizer(name);
    require_reference(tokenizer, name);
    const bool has_end = std::string(name) == "llama3" || std::string(name) == "qwen2";
    if (has_end) CHECK(tokenizer.special.front().name == "<|endoftext|>");
  }
}

TEST_CASE("a folder with a tokenizer.json is read by it") {
  TemporaryFolder folder;
  fs::copy_file(references / "qwen2.json", folder / "tokenizer.json");
  require_reference(load_tokenizer(folder.path()), "qwen2");
}

TEST_CASE("any bytes are decoded as they were, also those that are no UTF-8") {
  for (const char* name : {"llama3", "qwen2", "llama2"}) {
    const Tokenizer tokenizer = reference_tokenizer(name);
    RandomTexts texts;
    for (int k = 0; k < 2000; ++k) {
      const std::string text = texts.bytes(std::size_t(1 + k % 60));
      CAPTURE(name);
      CAPTURE(text);
      REQUIRE(tokenizer.text_of(tokenizer.encode(text)) == text);
    }
  }
}

TEST_CASE("each token that text gives is below the vocabulary, and others are no tokens") {
  const Tokenizer tokenizer = reference_tokenizer("llama3");
  RandomTexts texts;
  for (std::int32_t token : tokenizer.encode(texts.bytes(5000)))
    CHECK(token < tokenizer.vocabulary);
  CHECK_THROWS_AS((void)tokenizer.decode(tokenizer.vocabulary), ArgumentError);
  CHECK_THROWS_AS((void)tokenizer.decode(-1), ArgumentError);
}

TEST_CASE("ids do not depend on earlier texts or on the number of threads") {
  for (const char* name : {"llama3", "llama2"}) {
    const Tokenizer used = reference_tokenizer(name);
    RandomTexts texts;
    std::vector<std::string> all;
    std::vector<TokenIds> expected;
    for (int k = 0; k < 40; ++k) {
      all.push_back(texts.next() + texts.next() + " words that come again, and again");
      const Tokenizer fresh = reference_tokenizer(name);  // has remembered nothing
      expected.push_back(fresh.encode(all.back()));
    }
    std::vector<int> wrong(4);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t)
      threads.emplace_back([&, t] {
        for (int round = 0; round < 20; ++round)
          for (std::size_t k = 0; k < all.size(); ++k)
            wrong[t] += used.encode(all[k]) != expected[k];
      });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == std::vector<int>(wrong.size()));
  }
}

TEST_CASE("texts of ASCII are split as regular expressions say") {
  struct Case {
    Pattern pattern;
    std::regex expected;
  };
  const Case cases[] = {
      {Pattern::gpt2, std::regex(R"('s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+)"
                                 R"(| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+)")},
      {Pattern::llama3,
       std::regex(R"('[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
                  R"(|[^\r\nA-Za-z0-9]?[A-Za-z]+|[0-9]{1,3}| ?[^\sA-Za-z0-9]+[\r\n]*)"
                  R"(|\s*[\r\n]+|\s+(?!\S)|\s+)")}};
  static const std::string letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@[`{";  // and their neighbours in ASCII
  static const std::string others = "  \n\t\r''sStTmMdDlLrReEvV019.,!/:";
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    while (text.size() < 60) {
      if (random() % 2) text += others[random() % others.size()];
      for (std::uint32_t k = random() % 3 ? random() % 8 : random() % 20; k > 0; --k)
        text += letters[random() % letters.size()];
      if (random() % 2) text += ' ';
    }
    CAPTURE(text);
    for (const Case& each : cases) {
      std::vector<std::string> pieces, expected;
      split(text, each.pattern,
            [&](const char* at, std::size_t bytes) { pieces.emplace_back(at, bytes); });
      for (std::sregex_iterator at(text.begin(), text.end(), each.expected), end; at != end; ++at)
        expected.push_back(at->str());
      REQUIRE(pieces == expected);
    }
  }
}

TEST_CASE("merging by scan and by heap is the same") {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<Merge> list;
    std::int32_t next = 4;
    for (int k = 0; k < 40; ++k, ++next) {
      auto token = [&] { return std::int32_t(random() % std::uint32_t(next)); };
      list.push_back({token(), token(), next});
    }
    const Merges merges(list);
    TokenIds scanned(1 + random() % Merges::max_scanned);
    for (std::int32_t& token : scanned) token = std::int32_t(random() % 4);
    TokenIds heaped = scanned;
    scanned.resize(merges.apply_by_scan(scanned.data(), scanned.size()));
    heaped.resize(merges.apply_by_heap(heaped.data(), heaped.size()));
    REQUIRE(scanned == heaped);
  }
}

TEST_CASE("a piece of 300,000 bytes takes no square of the time") {
  const Tokenizer tokenizer = reference_tokenizer("qwen2");
  std::string text;
  for (int k = 0; k < 300'000; ++k) text += char('a' + k % 1009 * (k % 1013) % 7);
  CHECK(tokenizer.text_of(tokenizer.encode(text)) == text);
}

TEST_CASE("20,000 random texts have the ids of tokenizers, where SINTER_PYTHON has it") {
  const auto python = python_with("tokenizers");
  if (!python) return;
  const char* asked = std::getenv("SINTER_TEST_TEXTS");  // 1000000 makes it a soak
  TemporaryFolder folder;
  RandomTexts random;
  std::vector<std::string> texts;
  std::ofstream file(folder / "texts");
  for (long k = asked ? std::atol(asked) : 20'000; k > 0; --k) {
    texts.push_back(random.next());
    file << Json(texts.back()).dump() << '\n';
  }
  file.close();
  std::vector<fs::path> paths;
  for (const char* name :
       {"llama3", "qwen2", "nfc", "prefixed", "llama2", "mistral", "bert_uncased", "bert_cased"})
    paths.push_back(references / (std::string(name) + ".json"));
  if (const fs::path bert = fs::path(SINTER_TEST_DATA) / "bert_vocab/vocab.txt"; fs::exists(bert))
    paths.push_back(bert);
  for (const fs::path& path : paths) {
    const std::string script = SINTER_SOURCE_DIR "/tests/support/ids_of_tokenizers.py";
    const std::string command = "'" + *python + "' '" + script + "' '" + path.string() + "' '" +
                                (folder / "texts").string() + "' > '" + (folder / "ids").string() +
                                "'";
    REQUIRE(std::system(command.c_str()) == 0);
    const Tokenizer tokenizer = load_tokenizer(path);
    std::ifstream answers(folder / "ids");
    for (const std::string& text : texts) {
      std::string line;
      REQUIRE(std::getline(answers, line));
      std::istringstream numbers(line);
      TokenIds expected;
      for (std::int32_t id; numbers >> id;) expected.push_back(id);
      const TokenIds found = tokenizer.encode(text);
      if (found == expected) continue;
      CAPTURE(path);
      CAPTURE(text);
      REQUIRE(found == expected);
    }
  }
}

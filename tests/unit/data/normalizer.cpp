// SPDX-License-Identifier: Apache-2.0
// Normalising equals that of Hugging Face's tokenizers at every code point: its results, hashed, are in
// tests/data/tokenizer/normals.txt, which tests/support/normals_of_tokenizers.py has written.
#include <doctest/doctest.h>

#include <boost/crc.hpp>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "data/tokenizer/characters.hpp"
#include "data/tokenizer/normal_forms.hpp"
#include "data/tokenizer/normalizer.hpp"
#include "data/tokenizer/wordpiece.hpp"
#include "support/sanitized.hpp"

namespace sinter::detail::testing::normalizer_tests {

class Crc {
  boost::crc_32_type crc;

 public:
  void add_line(std::string_view text) {
    crc.process_bytes(text.data(), text.size());
    crc.process_byte('\n');
  }
  std::uint32_t value() const { return crc.checksum(); }
};

std::string utf8(std::uint32_t code) {
  std::string text;
  append_utf8(text, code);
  return text;
}

std::string text_of(std::uint32_t code) {
  const std::string c = utf8(code);
  return "a" + c + "B" + c + "\u0301\u0323" + c + "\u0327";
}

Normalizer bert(bool uncased) {
  Normalizer normalizer;
  normalizer.add(BertNormalizing{.strip_accents = uncased, .lowercase = uncased});
  return normalizer;
}

const std::map<std::string, Normalizer> normalizers{
    {"NFC", Normalizer({Change::nfc})},
    {"NFD", Normalizer({Change::nfd})},
    {"Lowercase", Normalizer({Change::lowercase})},
    {"StripAccents", Normalizer({Change::strip_accents})},
    {"bert", bert(true)},
    {"bert_cased", bert(false)},
};

/// What a column of the file says of the 4,096 code points from the first on.
std::uint32_t crc_of_block(const std::string& column, std::uint32_t first) {
  Crc crc;
  const Normalizer& normalizer = normalizers.at(column == "words" ? "bert" : column);
  for (std::uint32_t code = first; code < first + 4096; ++code) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const std::string normal = normalizer.apply(text_of(code));
    if (column == "words")
      cut_words(normal, [&](std::string_view word) { crc.add_line(word); });
    else
      crc.add_line(normal);
  }
  return crc.value();
}

TEST_CASE("every code point is normalised and cut as by tokenizers") {
  std::ifstream file(SINTER_SOURCE_DIR "/tests/data/tokenizer/normals.txt");
  std::string line, word;
  REQUIRE(std::getline(file, line));
  std::istringstream heading(line);
  std::vector<std::string> columns;
  for (heading >> word; heading >> word;) columns.push_back(word);
  REQUIRE(columns.size() == normalizers.size() + 1);
  std::uint32_t expected_first = 0;
  for (; std::getline(file, line); expected_first += 4096) {
    std::istringstream row(line);
    row >> std::hex;
    std::uint32_t first = 0, crc = 0;
    REQUIRE(bool(row >> first));
    REQUIRE(first == expected_first);
    if (sinter::detail::testing::is_sample && first > 0x2000 && first / 4096 % 64) continue;
    for (const std::string& column : columns) {
      CAPTURE(first);
      CAPTURE(column);
      REQUIRE(bool(row >> crc));
      CHECK(crc_of_block(column, first) == crc);
    }
  }
  CHECK(expected_first == 0x110000);
}

TEST_CASE("normal forms are those of Unicode's annex 15") {
  const auto nfc = [](std::string_view text) { return normal_form(text, true); };
  const auto nfd = [](std::string_view text) { return normal_form(text, false); };
  CHECK(nfd("\u1e69") == "s\u0323\u0307");
  CHECK(nfc("s\u0307\u0323") == "\u1e69");
  CHECK(nfc("\u1e0b\u0323") == "\u1e0d\u0307");
  CHECK(nfc("\u212b\u2126") == "\u00c5\u03a9");  // singletons
  CHECK(nfc("\u0958") == "\u0915\u093c");        // excluded from composition
  CHECK(nfd("\ud4db") == "\u1111\u1171\u11b6");
  CHECK(nfc("\u1111\u1171\u11b6") == "\ud4db");
  CHECK(nfc("\u1111\u1171") + nfc("\u11b6") != "\ud4db");  // what hangs together must be together
}

TEST_CASE("bytes that are no UTF-8 stay as they are, and end what hangs together") {
  CHECK(normal_form("e\xff\u0301\xcc", true) == "e\xff\u0301\xcc");
  CHECK(normal_form("\xff"
                    "e\u0301\xff",
                    true) == "\xff\u00e9\xff");
  CHECK(Normalizer({Change::lowercase}).apply("\xff\xc3 A") == "\xff\xc3 a");
  CHECK(bert(true).apply("a\xff\xc3 \u00c9") == "a e");  // clean_text takes them out
}

TEST_CASE("white space is kept by all changes but those that make or take out some") {
  CHECK(Normalizer({Change::nfc, Change::nfd, Change::lowercase}).keeps_space());
  CHECK_FALSE(Normalizer({Change::strip_accents}).keeps_space());
  CHECK_FALSE(bert(true).keeps_space());
}

TEST_CASE("a million marks on one letter take no square of the time") {
  std::string text = "a";
  for (int k = 0; k < 500'000; ++k) text += "\u0301\u0323";
  const std::string normal = normal_form(text, true);
  CHECK(normal.substr(0, 5) == "\u1ea1\u0323");
  CHECK(normal_form(normal, true) == normal);
}

}  // namespace sinter::detail::testing::normalizer_tests

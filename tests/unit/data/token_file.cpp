// SPDX-License-Identifier: Apache-2.0
// Token files: what is in them depends on neither threads nor interruptions, and damage is found.
#include "sinter/data/token_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "data/file_identity.hpp"
#include "data/tokenizer/line_cut.hpp"
#include "sinter/files/io.hpp"
#include "support/sanitized.hpp"
#include "unit/data/support.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::detail::testing;

namespace {

/// The same without the added token that takes the white space before it.
Tokenizer cutting_tokenizer(const std::string& name) {
  TemporaryFolder folder;
  auto json = nlohmann::ordered_json::parse(get(references / (name + ".json")));
  auto& added = json["added_tokens"];
  std::erase_if(added.get_ref<nlohmann::ordered_json::array_t&>(),
                [](const auto& token) { return token["lstrip"] == true; });
  put(folder / "tokenizer.json", json.dump());
  return load_tokenizer(folder / "tokenizer.json");
}

/// Lines, blank ones and blanks of many kinds.
std::string random_text(std::size_t bytes, unsigned seed) {
  static const char* parts[] = {"the ", "width", " 42",  "\n",    "\n",       "x\ny", "。\n語",
                                ".\n",  "\n\n",  "\r\n", "\t",    "\xc2\xa0", "'s",   "\n'll",
                                "\xff", "é",     " \n",  "\n \n", "12\n34",   "<|x|>"};
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < bytes) text += parts[random() % std::size(parts)];
  return text;
}

TokenIds ids_of(const TokenFile& file) {
  TokenIds ids(std::size_t(file.size()));
  file.read(0, ids);
  return ids;
}

struct Texts {
  TemporaryFolder folder;
  std::vector<std::string> contents{random_text(2'500'000, 1), "", random_text(40, 2)};
  std::vector<std::string> paths;

  Texts() {
    for (std::size_t k = 0; k < contents.size(); ++k) {
      paths.push_back((folder / std::to_string(k)).string());
      put(paths.back(), contents[k]);
    }
  }
  /// The content of the token file that is made of them.
  std::string made(const Tokenizer& tokenizer, const TokenizeOptions& options = {}) {
    const fs::path out = folder / "made";
    fs::remove(out);
    make_token_file(DataFiles(paths), tokenizer, out, options);
    return get(out);
  }
};

}  // namespace

TEST_CASE("a text may be cut where line_cut says: the tokens are those of the whole") {
  for (const char* name : {"qwen2", "llama3"}) {
    CHECK_FALSE(reference_tokenizer(name).cuts_at_lines);
    const Tokenizer tokenizer = cutting_tokenizer(name);
    REQUIRE(tokenizer.cuts_at_lines);
    int cuts = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
      const std::string text = random_text(200, seed);
      const TokenIds whole = tokenizer.encode(text);
      for (auto cut = line_cut(text, 0); cut; cut = line_cut(text, *cut + 1), ++cuts) {
        CAPTURE(text);
        CAPTURE(*cut);
        TokenIds parts = tokenizer.encode(text.substr(0, *cut));
        const TokenIds rest = tokenizer.encode(text.substr(*cut));
        parts.insert(parts.end(), rest.begin(), rest.end());
        CHECK(parts == whole);
      }
    }
    CHECK(cuts > 500);
  }
}

TEST_CASE("line_cut finds a newline between characters that are no white space") {
  CHECK(line_cut("ab\ncd", 0) == 3);
  CHECK(line_cut("ab\ncd", 3) == 3);
  CHECK_FALSE(line_cut("ab\ncd", 4));
  CHECK(line_cut("。\n語", 0) == 4);
  for (const char* text :
       {"", "a", "\n", "\na", "a\n", "a\n\nb", "a\r\nb", "a\n b", "a \nb", "a\xc2\xa0\nb",
        "a\n\xe3\x80\x80"
        "b"})
    CHECK_FALSE(line_cut(text, 0));
}

TEST_CASE("a token file holds the tokens of its texts, in order, whatever the threads") {
  Texts texts;
  for (const Tokenizer& tokenizer :
       {cutting_tokenizer("qwen2"), reference_tokenizer("llama2"), byte_tokenizer()}) {
    CAPTURE(tokenizer.identity);
    if (is_sample && !tokenizer.cuts_at_lines) continue;
    const std::string made = texts.made(tokenizer, {.threads = 1});
    CHECK((texts.made(tokenizer, {.threads = 3}) == made));
    const TokenFile file(texts.folder / "made");
    TokenIds expected;
    std::vector<std::uint64_t> documents;
    for (const std::string& content : texts.contents) {
      documents.push_back(expected.size());
      const TokenIds ids = tokenizer.encode_whole(content);
      expected.insert(expected.end(), ids.begin(), ids.end());
    }
    CHECK((ids_of(file) == expected));
    CHECK(std::vector(file.documents().begin(), file.documents().end()) == documents);
    CHECK(file.vocabulary() == tokenizer.vocabulary);
    CHECK(file.origin() == token_file_origin(DataFiles(texts.paths), tokenizer));
    CHECK(is_token_file(texts.folder / "made"));
    CHECK_FALSE(is_token_file(texts.paths[0]));
    file.verify();
    TokenIds middle(3);
    file.read(1000, middle);
    CHECK(std::equal(middle.begin(), middle.end(), expected.begin() + 1000));
  }
}

TEST_CASE("each text of a token file has its special tokens around it, and they make it another") {
  Texts texts;
  Tokenizer tokenizer = byte_tokenizer();
  const std::string plain = texts.made(tokenizer),
                    origin = token_file_origin(DataFiles(texts.paths), tokenizer);
  tokenizer.before = {7, 8};
  const std::string begun = token_file_origin(DataFiles(texts.paths), tokenizer);
  tokenizer.behind = {9};
  CHECK(begun != origin);
  CHECK(token_file_origin(DataFiles(texts.paths), tokenizer) != begun);
  CHECK((texts.made(tokenizer, {.threads = 3, .seconds_between_notes = 0}) != plain));
  TokenIds expected;
  for (const std::string& content : texts.contents) {
    expected.insert(expected.end(), {7, 8});
    for (char c : content) expected.push_back(static_cast<unsigned char>(c));
    expected.push_back(9);
  }
  CHECK((ids_of(TokenFile(texts.folder / "made")) == expected));
}

TEST_CASE("a vocabulary beyond 65,536 takes four bytes a token") {
  TemporaryFolder folder;
  put(folder / "text", "abc");
  Tokenizer tokenizer{.encode = [](std::string_view) { return TokenIds{70'000, 1, 99'999}; },
                      .decode = {},
                      .vocabulary = 100'000};
  make_token_file(DataFiles({(folder / "text").string()}), tokenizer, folder / "out");
  const TokenFile file(folder / "out");
  CHECK(ids_of(file) == TokenIds{70'000, 1, 99'999});
  CHECK(get(folder / "out").size() == 128 + 16 + 8);
}

TEST_CASE("an interrupted work goes on where it was, and the file is the same") {
  Texts texts;
  const Tokenizer tokenizer = cutting_tokenizer("qwen2");
  const std::string expected = texts.made(tokenizer);
  struct Interrupted {};
  for (int interruptions = is_sample ? 3 : 1; interruptions <= 3; ++interruptions) {
    CAPTURE(interruptions);
    fs::remove(texts.folder / "made");
    const DataFiles files(texts.paths);
    std::int64_t reached = 0;
    int seen = 0;
    auto stop = [&](std::int64_t bytes) {
      reached = bytes;
      if (++seen == interruptions) throw Interrupted();
    };
    const TokenizeOptions stops{.threads = 2, .seconds_between_notes = 0, .progress = stop};
    CHECK_THROWS_AS(make_token_file(files, tokenizer, texts.folder / "made", stops), Interrupted);
    CHECK_FALSE(fs::exists(texts.folder / "made"));
    std::int64_t first = 0;
    auto note = [&](std::int64_t bytes) { first = first ? first : bytes; };
    make_token_file(files, tokenizer, texts.folder / "made", {.progress = note});
    CHECK(first >= reached);
    CHECK((get(texts.folder / "made") == expected));
    CHECK_FALSE(fs::exists(texts.folder / "made.part"));
    CHECK_FALSE(fs::exists(texts.folder / "made.part.json"));
  }
}

TEST_CASE("compressed texts give the tokens of their content, also after an interruption") {
  Texts texts;
  const Tokenizer tokenizer = cutting_tokenizer("qwen2");
  (void)texts.made(tokenizer);
  const TokenIds expected = ids_of(TokenFile(texts.folder / "made"));
  REQUIRE(std::system(("gzip -n '" + texts.paths[0] + "'").c_str()) == 0);
  texts.paths[0] += ".gz";
  (void)texts.made(tokenizer);
  CHECK((ids_of(TokenFile(texts.folder / "made")) == expected));

  struct Interrupted {};
  fs::remove(texts.folder / "made");
  const TokenizeOptions stops{.seconds_between_notes = 0,
                              .progress = [](std::int64_t) { throw Interrupted(); }};
  const DataFiles files(texts.paths);
  CHECK_THROWS_AS(make_token_file(files, tokenizer, texts.folder / "made", stops), Interrupted);
  make_token_file(files, tokenizer, texts.folder / "made");
  CHECK((ids_of(TokenFile(texts.folder / "made")) == expected));
}

TEST_CASE("remains of another text or tokenizer, or with a damaged journal, are not continued") {
  Texts texts;
  const Tokenizer qwen2 = cutting_tokenizer("qwen2"), llama3 = cutting_tokenizer("llama3");
  const std::string expected = texts.made(llama3);
  const fs::path part = texts.folder / "made.part", journal = texts.folder / "made.part.json";
  struct Interrupted {};
  auto leave = [&](const Tokenizer& tokenizer) {
    fs::remove(texts.folder / "made");
    const TokenizeOptions stops{.seconds_between_notes = 0,
                                .progress = [](std::int64_t) { throw Interrupted(); }};
    CHECK_THROWS_AS(
        make_token_file(DataFiles(texts.paths), tokenizer, texts.folder / "made", stops),
        Interrupted);
    REQUIRE(fs::exists(journal));
  };
  leave(qwen2);
  CHECK((texts.made(llama3) == expected));
  leave(llama3);
  put(journal, get(journal).substr(0, 40));
  CHECK((texts.made(llama3) == expected));
  leave(llama3);
  std::string wrong = get(journal);
  const std::size_t number = wrong.find("\"tokens\":") + 9;
  wrong.replace(number, 1, wrong[number] == '1' ? "2" : "1");
  put(journal, wrong);
  CHECK((texts.made(llama3) == expected));
  leave(llama3);
  put(part, "short");
  CHECK((texts.made(llama3) == expected));
}

TEST_CASE("a token file that is there is kept where it is of the same, and else never replaced") {
  Texts texts;
  const fs::path out = texts.folder / "made";
  const Tokenizer qwen2 = reference_tokenizer("qwen2");
  const std::string made = texts.made(qwen2);
  const auto time = fs::last_write_time(out);
  make_token_file(DataFiles(texts.paths), qwen2, out);
  CHECK(fs::last_write_time(out) == time);
  auto again = [&](const Tokenizer& tokenizer) {
    return message_of([&] { make_token_file(DataFiles(texts.paths), tokenizer, out); });
  };
  CHECK(contains(again(reference_tokenizer("llama3")), "was made of other files"));
  put(texts.paths[2], "changed");
  CHECK(contains(again(qwen2), "was made of other files"));
  put(out, "abc");
  CHECK(contains(again(qwen2), "it has 3 bytes, and the header alone has 128"));
  CHECK(get(out) == "abc");
  fs::remove(out);
  const int part = ::open((out.string() + ".part").c_str(), O_RDWR | O_CREAT, 0666);
  REQUIRE(::flock(part, LOCK_EX) == 0);
  CHECK(contains(again(qwen2), "Another process is making"));
  ::close(part);
  make_token_file(DataFiles(texts.paths), qwen2, out);
  CHECK(get(out) != made);
}

TEST_CASE("damage is found: every byte of the header at once, the rest where it is looked for") {
  Texts texts;
  texts.contents.assign(1, random_text(3000, 5));
  texts.paths.resize(1);
  put(texts.paths[0], texts.contents[0]);
  const std::string made = texts.made(reference_tokenizer("qwen2"));
  const fs::path path = texts.folder / "damaged";
  auto refusal = [&](const std::string& content, bool verify) {
    put(path, content);
    return message_of([&] {
      const TokenFile file(path);
      if (verify) file.verify();
    });
  };
  for (std::size_t k = 0; k < 112; ++k) {
    CAPTURE(k);
    std::string damaged = made;
    damaged[k] = char(damaged[k] ^ 16);
    CHECK(contains(refusal(damaged, false), "cannot be used: it"));
  }
  for (std::size_t k = 128; k < made.size(); k += 97) {
    CAPTURE(k);
    std::string damaged = made;
    damaged[k] = char(damaged[k] ^ 1);
    CHECK(contains(refusal(damaged, true), "its tokens are damaged"));
  }
  for (std::size_t size : {0, 1, 127, 128, 129, int(made.size()) - 1})
    CHECK(contains(refusal(made.substr(0, size), false), "cannot be used: it"));
  CHECK(contains(refusal(made + "x", false), "and its header says"));
}

TEST_CASE("a token file that shrinks while it is in use is an error with its name") {
  Texts texts;
  (void)texts.made(byte_tokenizer());
  const fs::path path = texts.folder / "made";
  const TokenFile file(path);
  TokenIds last(1000);
  file.read(file.size() - 1000, last);
  fs::resize_file(path, 4096);
  check_refused([&] { file.read(file.size() - 1000, last); }, path.string() + " ends at byte ");
  check_refused([&] { file.verify(); }, path.string() + " ends at byte ");
  CHECK_NOTHROW(file.read(0, last));
  CHECK(file.documents().size() == 3);
}

TEST_CASE("reads of any length and place give the same tokens") {
  Texts texts;
  (void)texts.made(byte_tokenizer());
  const TokenFile file(texts.folder / "made");
  const TokenIds all = ids_of(file);
  for (std::int64_t begin : {0, 1, 8191, 8192, 20'001})
    for (std::int64_t count : {0, 1, 8191, 8192, 8193, 30'000}) {
      TokenIds some(static_cast<std::size_t>(count));
      file.read(begin, some);
      CHECK(std::equal(some.begin(), some.end(), all.begin() + begin));
    }
}

TEST_CASE("a file's identity changes with its content, its inode and any write") {
  TemporaryFolder folder;
  const fs::path path = folder / "file";
  put(path, std::string(1'000'000, 'a'));
  const std::string first = file_identity(path);
  CHECK(file_identity(path) == first);
  const auto time = fs::last_write_time(path);
  {
    std::fstream file(path);
    file.seekp(70'000);  // between the samples
    file << "b";
  }
  fs::last_write_time(path, time);
  CHECK(file_identity(path) != first);
  fs::copy(path, folder / "copy");
  CHECK(file_identity(folder / "copy") != file_identity(path));
}

TEST_CASE("a byte without a token is an error that names the file, and where in it") {
  Texts texts;
  Tokenizer tokenizer{
      .encode = [](std::string_view) -> TokenIds { throw ArgumentError("no token"); },
      .decode = {},
      .vocabulary = 5};
  auto fails = [&] { make_token_file(DataFiles(texts.paths), tokenizer, texts.folder / "out"); };
  CHECK(contains(message_of<ArgumentError>(fails), "/0, from byte 0 on: no token"));
  tokenizer.vocabulary = 0;
  CHECK(contains(message_of<ArgumentError>(fails), "does not say its vocabulary"));
}

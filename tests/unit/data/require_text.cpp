// SPDX-License-Identifier: Apache-2.0
// Text that is none: archives, other compression, records and tables, and bytes that no text has.
#include "data/require_text.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "data/archives.hpp"
#include "data/table_as_text.hpp"
#include "sinter/data/bytes.hpp"
#include "sinter/data/example_files.hpp"
#include "sinter/data/tokens.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::require_text_tests {

using namespace std::string_literals;

/// What a shell command prints.
std::string output_of(const std::string& command) {
  TemporaryFolder folder;
  const std::string out = (folder / "out").string();
  REQUIRE(std::system((command + " >'" + out + "'").c_str()) == 0);
  return get(out);
}

const std::string prose = [] {
  std::string text;
  for (int k = 0; k < 200; ++k) text += "A line of prose, number " + std::to_string(k) + ".\n";
  return text;
}();

std::string object_lines(int lines) {
  std::string text;
  for (int k = 0; k < lines; ++k) text += R"({"text": "line )" + std::to_string(k) + "\"}\n";
  return text;
}

std::string rows(int lines) {
  std::string text;
  for (int k = 0; k < lines; ++k) text += "sentence " + std::to_string(k) + "\t1\n";
  return text;
}

struct Texts {
  TemporaryFolder folder;
  DataRequest request{.paths = {}, .evaluation_sequences = 4};
  Texts() { ::setenv("SINTER_CACHE", (folder / "cache").c_str(), 1); }

  void name(const std::string& file, const std::string& content) {
    request.paths = {put(folder / file, content)};
  }
  OpenedData bytes() const { return open_bytes(request, 16); }
  OpenedData tokens() {
    request.tokenizer = references / "qwen2.json";
    return open_tokens(request, {.context = 4, .vocabulary = 512});
  }
  void refused(const std::string& says) {
    check_refused([&] { (void)bytes(); }, says);
    check_refused([&] { (void)tokens(); }, says);
    request.as_text = true;
    CHECK_NOTHROW((void)bytes());
    request.as_text = false;
  }
};

TEST_CASE("archives and other compression are known by their first bytes, whatever their name") {
  TemporaryFolder folder;
  put(folder / "text", prose);
  const std::string in = "cd '" + folder.path().string() + "' && ";
  const std::pair<std::string, std::string> made[] = {
      {output_of(in + "tar c text"), "a tar archive"},
      {output_of(in + "ar rc a.a text && cat a.a"), "an ar archive"}};
  for (const auto& [content, name] : made) {
    REQUIRE(archive_kind(content) != nullptr);
    CHECK(archive_kind(content)->name.starts_with(name));
  }
  const std::pair<std::string, std::string> begins[] = {
      {"PK\x03\x04\x14\0\0\0", "a zip archive"},
      {"BZh91AY&SY\0\0", "compressed by bzip2"},
      {"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0"s, "compressed by bzip2"},
      {"7z\xbc\xaf\x27\x1c\0\4", "a 7z archive"},
      {"\x04\x22\x4d\x18\x64", "compressed by lz4"},
      {"\x5d\0\0\x80\0"s, "compressed as .lzma"}};
  for (const auto& [content, name] : begins) {
    REQUIRE(archive_kind(content) != nullptr);
    CHECK(archive_kind(content)->name.starts_with(name));
  }
  for (const std::string& text : {""s, prose, "PK"s, "BZh is the beginning of bzip2's"s, "ustar"s})
    CHECK(archive_kind(text) == nullptr);
}

TEST_CASE("an archive is no text, also in a compressed file; --as-text reads its bytes") {
  Texts texts;
  texts.name("a.txt", "PK\x03\x04" + prose);
  texts.refused("a.txt' as data: it is a zip archive (.zip, .npz, .docx, .jar). Unpack it");
  texts.name("b", "BZh91AY&SY" + prose);
  texts.refused("b' as data: it is compressed by bzip2 (.bz2). Decompress it");
  put(texts.folder / "text", prose);
  texts.name("c.tar.gz", output_of("cd '" + texts.folder.path().string() + "' && tar cz text"));
  texts.refused("c.tar.gz' as data: it is a tar archive");
  CHECK(contains(message_of([&] { (void)texts.bytes(); }), "--as-text"));
  check_refused(
      [&] { (void)open_json_lines(texts.request, "", "text", byte_tokenizer(), {8, 8}, {}); },
      "it is a tar archive");
}

TEST_CASE("the name of a file says that it holds records, and nearly all of its lines do") {
  CHECK(table_in("a.jsonl", prose) == "JSON lines");
  CHECK(table_in("folder/A.JSONL.gz", prose) == "JSON lines");
  CHECK(table_in("a.ndjson", "") == "JSON lines");
  CHECK(table_in("a.tsv.zst", prose) == "a table with tabs (TSV)");
  CHECK(table_in("a.csv", prose) == "a table (CSV)");
  CHECK(table_in("a", "PAR1....") == "a Parquet table");
  CHECK(table_in("a.txt", object_lines(200)) == "JSON lines");
  CHECK(table_in("a.txt", object_lines(95) + "no object\n" + object_lines(9)) == "JSON lines");
  CHECK(table_in("a.txt", "\n" + object_lines(2)) == "JSON lines");
  CHECK(table_in("a.txt", rows(200)) == "a table with tabs (TSV)");
  CHECK(table_in("a.txt", "sentence\tlabel\r\na\t1\r\nb\t0\r\n") == "a table with tabs (TSV)");
  CHECK(table_in("a.txt", rows(99) + "a\tb\tc\n") == "a table with tabs (TSV)");
}

TEST_CASE("prose, source code and single objects are text") {
  std::string code = "int main() {\n", assembly;
  for (int k = 0; k < 50; ++k) code += "\tcall(" + std::to_string(k) + ");\n";
  for (int k = 0; k < 50; ++k) assembly += "\tmovq\t%rax, %rbx\n";
  for (const std::string& text :
       {prose, code, assembly, ""s, "a\tb\n"s, R"({"a": {"b": 1}})"s, "{\n\"a\": 1\n}\n"s,
        "{x}\n{y}\n{z}\n"s, "a\tb\1\nc\td\2\ne\tf\3\n"s, object_lines(50) + prose,
        rows(50) + prose})
    CHECK(table_in("a.txt", text) == "");
}

TEST_CASE("records are no text, whose policy the error names; --as-text insists") {
  Texts texts;
  texts.name("a.txt", object_lines(300));
  texts.refused("a.txt' as data: it is JSON lines, and no text. Use a recipe whose data read it");
  texts.name("b.tsv", prose);
  texts.refused("b.tsv' as data: it is a table with tabs (TSV)");
  texts.request.as_text = true;
  CHECK_NOTHROW((void)texts.tokens());
}

TEST_CASE("bytes may be anything, which is said; NUL bytes become no tokens") {
  Texts texts;
  texts.name("a", prose + "\0"s + prose);
  CHECK(texts.bytes().notes == texts.request.paths[0] +
                                   " may be no text: it has NUL bytes, the first at byte " +
                                   std::to_string(prose.size()) + ". All bytes are read.\n");
  check_refused([&] { (void)texts.tokens(); },
                "byte " + std::to_string(prose.size()) + " is NUL, which no text has");
  texts.name("b", std::string(3 << 20, 'b') + "\0"s);
  check_refused([&] { (void)texts.tokens(); }, "byte 3145728 is NUL");
  texts.name("c", "\xff\xfeh\0i\0\n\0"s);
  check_refused([&] { (void)texts.tokens(); }, "iconv -f UTF-16 -t UTF-8");
  texts.request.as_text = true;
  texts.name("d", "\0"s + prose);
  CHECK(texts.bytes().notes == "");
  CHECK_NOTHROW((void)texts.tokens());
  texts.request.as_text = false;
  texts.name("e", prose);
  CHECK(texts.bytes().notes == "");
}

}  // namespace sinter::detail::testing::require_text_tests

// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/decompress.hpp"

#include <cstdlib>

#include "unit/files/support.hpp"

namespace sinter::detail::testing::decompress_tests {

struct Format {
  const char *suffix, *name, *command;
  Compression compression;
};
constexpr Format formats[]{{".gz", "gzip", "gzip -n9", Compression::gzip},
                           {".xz", "xz", "xz -6", Compression::xz},
                           {".zst", "zstd", "zstd -q --check", Compression::zstd}};

/// What the format's own program makes of a text; empty where there is no such program.
std::string packed(const Format& format, const std::string& text) {
  TemporaryFolder folder;
  put(folder / "in", text);
  const std::string in = (folder / "in").string(), out = (folder / "out").string();
  if (std::system((std::string(format.command) + " <" + in + " >" + out).c_str()) != 0) {
    MESSAGE("skipped: there is no program ", format.command);
    return "";
  }
  return get(out);
}

std::string read_in_pieces(const fs::path& path, std::size_t piece) {
  DecompressedFile file(path);
  std::string content(piece, '\0');
  for (std::size_t size = 0;;) {
    const std::size_t got = file.read(content.data() + size, piece);
    size += got;
    content.resize(size + (got == piece ? piece : 0));
    CHECK(file.position() == size);
    if (got < piece) return content;
  }
}

/// The content of a file of these bytes, or the error.
struct Answer {
  std::string content, error;
};
Answer answer_to(const TemporaryFolder& folder, const std::string& bytes,
                 const std::string& name = "file") {
  put(folder / name, bytes);
  try {
    return {read_decompressed(folder / name), ""};
  } catch (const FileError& error) {
    return {"", error.what()};
  }
}

/// Text that compresses, and a little that does not.
std::string some_content(std::size_t size) {
  std::string text;
  for (std::size_t k = 1; text.size() < size; k = k * 48271 % 2147483647)
    text += k % 3 ? "the same words " : std::to_string(k);
  return text.substr(0, size);
}

TEST_CASE("a compressed file is read as its content, whatever its name and the size of reads") {
  TemporaryFolder folder;
  for (const Format& format : formats) {
    CAPTURE(format.name);
    for (std::size_t size : {0, 1, 1000, 3'000'000}) {
      const std::string text = some_content(size), bytes = packed(format, text);
      if (bytes.empty()) continue;
      CHECK(bytes != text);
      put(folder / "x", bytes);
      CHECK(read_decompressed(folder / "x") == text);
      DecompressedFile file(folder / "x");
      CHECK(file.compression() == format.compression);
      CHECK(file.file().size() == bytes.size());
      for (std::size_t piece : {7, 4096, 1 << 20})
        if (size < 5000 || piece > 7) CHECK(read_in_pieces(folder / "x", piece) == text);
      // Members, streams and frames behind each other are one text.
      CHECK(answer_to(folder, bytes + bytes + bytes).content == text + text + text);
    }
  }
}

TEST_CASE("a file that is not compressed is read as it is") {
  TemporaryFolder folder;
  for (const std::string& text : {std::string(), std::string("x"), std::string("\x1f\x8b"),
                                  std::string("\xfd"
                                              "7zXY"),
                                  some_content(700'000)}) {
    put(folder / "file", text);
    CHECK(read_decompressed(folder / "file") == text);
    CHECK(DecompressedFile(folder / "file").compression() == Compression::none);
  }
}

TEST_CASE("a compressed file that is cut short anywhere is refused, with the place") {
  TemporaryFolder folder;
  for (const Format& format : formats) {
    const std::string bytes = packed(format, some_content(600));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CAPTURE(format.name);
      CAPTURE(size);
      const Answer cut = answer_to(folder, bytes.substr(0, size), std::string("f") + format.suffix);
      CHECK(cut.content.empty());
      if (size < 6) {
        CHECK(contains(cut.error, folder / (std::string("f") + format.suffix)));
      } else {
        CHECK(contains(cut.error, "cut short"));
        CHECK(
            contains(cut.error, "at byte " + std::to_string(size) + " of " + std::to_string(size)));
      }
      // So is a second one behind a whole one.
      if (size > 0) CHECK(!answer_to(folder, bytes + bytes.substr(0, size)).error.empty());
    }
  }
}

TEST_CASE("a compressed file of which any bit is wrong is refused, or its content is the same") {
  TemporaryFolder folder;
  const std::string text = some_content(300);
  for (const Format& format : formats) {
    const std::string bytes = packed(format, text);
    int refused = 0;
    for (std::size_t at = 0; at < 8 * bytes.size(); ++at) {
      std::string damaged = bytes;
      damaged[at / 8] = char(damaged[at / 8] ^ 1 << at % 8);
      const Answer answer = answer_to(folder, damaged, std::string("f") + format.suffix);
      CAPTURE(format.name);
      CAPTURE(at);
      CHECK((!answer.error.empty() || answer.content == text));
      refused += !answer.error.empty();
    }
    CAPTURE(bytes.size());
    CHECK(refused >=
          int(8 * bytes.size()) * 9 / 10 - 80);  // all but the date and such in the header
  }
}

TEST_CASE("data after compressed data must be compressed, too") {
  TemporaryFolder folder;
  for (const Format& format : formats) {
    const std::string bytes = packed(format, "a text");
    if (bytes.empty()) continue;
    for (const std::string& rest : {std::string("x"), std::string(512, '\1')}) {
      const Answer answer = answer_to(folder, bytes + rest);
      CAPTURE(format.name);
      CAPTURE(answer.error);
      CHECK(contains(answer.error, std::string("which is ") + format.name + " data: at byte "));
      CHECK(contains(answer.error, "(byte 6 of the content)"));
    }
  }
}

TEST_CASE("zeros behind gzip data are passed over, as gzip does") {
  TemporaryFolder folder;
  const std::string bytes = packed(formats[0], "a text");
  for (std::size_t zeros : {1, 512, 1'000'000}) {
    const std::string padding(zeros, '\0');
    CHECK(answer_to(folder, bytes + padding).content == "a text");
    CHECK(answer_to(folder, bytes + padding + bytes).content == "a texta text");
    CHECK(!answer_to(folder, bytes + padding + "x").error.empty());
  }
}

TEST_CASE("a name that promises compression is held to it") {
  TemporaryFolder folder;
  CHECK(contains(answer_to(folder, "plain", "a.gz").error,
                 "its name ends in .gz, but it does not begin"));
  CHECK(contains(answer_to(folder, "", "b.xz").error, "its name ends in .xz, but it is empty"));
  CHECK(answer_to(folder, "plain", "gz").content == "plain");
}

TEST_CASE("content beyond the limit is refused") {
  TemporaryFolder folder;
  const std::string zeros(5'000'000, '\0');
  for (const Format& format : formats) {
    const std::string bytes = packed(format, zeros);
    if (bytes.empty()) continue;
    put(folder / "zeros", bytes);
    CHECK(read_decompressed(folder / "zeros", zeros.size()) == zeros);
    const std::string said =
        message_of([&] { read_decompressed(folder / "zeros", zeros.size() - 1); });
    CHECK(contains(said, "more than 4999999 bytes, decompressed"));
  }
  put(folder / "plain", "12345");
  CHECK(read_decompressed(folder / "plain", 5) == "12345");
  CHECK(
      contains(message_of([&] { read_decompressed(folder / "plain", 4); }), "more than 4 bytes;"));
}

TEST_CASE("xz data that ask for more memory than is allowed are refused") {
  TemporaryFolder folder;
  const Format greedy{".xz", "xz", "xz --lzma2=dict=512MiB --memlimit=0", Compression::xz};
  const std::string bytes = packed(greedy, "a text");
  REQUIRE(!bytes.empty());
  const Answer answer = answer_to(folder, bytes);
  CAPTURE(answer.error);
  CHECK(contains(answer.error, "160 MiB are allowed"));
}

TEST_CASE("a path that is no file is refused") {
  TemporaryFolder folder;
  CHECK(contains(message_of([&] { DecompressedFile file(folder.path()); }), "not a regular file"));
  CHECK(contains(message_of([&] { DecompressedFile file(folder / "none"); }), "No such file"));
}

}  // namespace sinter::detail::testing::decompress_tests

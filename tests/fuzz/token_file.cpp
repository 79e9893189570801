// SPDX-License-Identifier: Apache-2.0
// Token files. An input is a line of the header's numbers, "version token_bytes tokens documents
// vocabulary", and what stands behind the header. The header's own hash is made to fit, and that of
// the content where the line begins with '='. An input that begins with 'j' is the journal of a token
// file that was begun, without its origin.
#include <sstream>

#include "data/token_file_header.hpp"
#include "fuzz/support.hpp"
#include "sinter/data/token_file.hpp"
#include "sinter/files/io.hpp"

using namespace sinter;
using namespace sinter::detail;

namespace {

void open_file(const fuzz::fs::path& path, const std::string& input) {
  const std::size_t end = std::min(input.find('\n'), input.size());
  const bool is_whole = input.starts_with('=');
  const std::string content = input.substr(std::min(end + 1, input.size()));
  TokenFileHeader header;
  std::istringstream numbers(input.substr(is_whole, end - is_whole));
  numbers >> header.version >> header.token_bytes >> header.tokens >> header.documents >>
      header.vocabulary;
  if (is_whole) std::ranges::copy(hash_of(content), header.content_hash.begin());
  header.header_hash = header.hash();
  fuzz::put(path, std::string(reinterpret_cast<const char*>(&header), sizeof header) + content);
  const TokenFile file(path);
  std::vector<std::int32_t> tokens(std::size_t(file.size()));
  file.read(0, tokens);
  const std::vector<std::uint64_t> documents(file.documents().begin(), file.documents().end());
  fuzz::ensure(2 * tokens.size() + 8 * documents.size() <= content.size(), "all is there");
  try {
    file.verify();
    fuzz::ensure(is_whole, "damage is found");
  } catch (const FileError&) {
    fuzz::ensure(!is_whole, "a file that is as its hash says passes");
  }
}

void go_on(const fuzz::TemporaryFolder& folder, const std::string& journal) {
  static const Tokenizer bytes = byte_tokenizer();
  static const std::string text = fuzz::put(folder / "text", "to be or\nnot to be\n").string();
  static const std::string more = fuzz::put(folder / "more", "that is\n").string();
  static const DataFiles files({text, more});
  const auto out = folder / "made";
  fuzz::fs::remove(out);
  fuzz::put(folder / "made.part", std::string(128 + 2 * 12, '\0'));
  fuzz::put(folder / "made.part.json",
            R"({"origin":")" + token_file_origin(files, bytes) + "\"," + journal);
  make_token_file(files, bytes, out, {.threads = 1});
  const TokenFile made(out);
  fuzz::ensure(made.size() == 27 && made.documents()[1] == 19, "a damaged journal is not believed");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::TemporaryFolder folder;
  const std::string input = fuzz::text_of(data, size);
  if (input.starts_with('j')) {
    go_on(folder, input.substr(1));
    return 0;
  }
  try {
    open_file(folder / "file", input);
  } catch (const FileError&) {
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/token_file.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <limits>

#include "data/token_file_header.hpp"
#include "files/system.hpp"
#include "sinter/error.hpp"

namespace sinter {
using namespace detail;
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw FileError(fmt::format(
      "The token file {} cannot be used: {}. Make it again with tokenize --data … --out.",
      printable(path.string(), 4096), why));
}

TokenFileHeader checked_header(const InputFile& file) {
  TokenFileHeader header;
  if (file.size() < sizeof header)
    refuse(file.path(),
           fmt::format("it has {} bytes, and the header alone has {}", file.size(), sizeof header));
  file.read_at(0, &header, sizeof header);
  if (std::string_view(header.magic.data(), 8) != TokenFileHeader::expected_magic)
    refuse(file.path(), "it does not begin with SINTERTK");
  if (header.version != TokenFileHeader::expected_version)
    refuse(file.path(), fmt::format("it has version {}, and this program reads version {}",
                                    header.version, TokenFileHeader::expected_version));
  if (header.header_hash != header.hash()) refuse(file.path(), "its header is damaged");
  return header;
}

void require_sizes(const InputFile& file, const TokenFileHeader& header) {
  constexpr auto most = std::uint64_t(std::numeric_limits<std::int64_t>::max() / 16);
  if (header.vocabulary < 1 || header.vocabulary > std::numeric_limits<std::int32_t>::max() ||
      header.token_bytes != token_bytes_for(std::int64_t(header.vocabulary)) ||
      header.tokens > most || header.documents > most)
    refuse(file.path(), "its header holds impossible numbers");
  const std::uint64_t size =
      documents_offset(header.tokens, header.token_bytes) + 8 * header.documents;
  if (file.size() != size)
    refuse(file.path(), fmt::format("it has {} bytes, and its header says {}", file.size(), size));
}

/// Where the documents begin.
std::vector<std::uint64_t> read_documents(const InputFile& file, const TokenFileHeader& header) {
  std::vector<std::uint64_t> documents(header.documents);
  file.read_at(documents_offset(header.tokens, header.token_bytes), documents.data(),
               8 * documents.size());
  return documents;
}

}  // namespace

namespace detail {
std::uint64_t TokenFileHeader::hash() const {
  return XXH3_64bits(this, offsetof(TokenFileHeader, header_hash));
}
}  // namespace detail

TokenFile::TokenFile(std::filesystem::path path)
    : name(std::move(path)), file(std::make_shared<const InputFile>(name)) {
  const TokenFileHeader header = checked_header(*file);
  require_sizes(*file, header);
  count = std::int64_t(header.tokens);
  ids = std::int64_t(header.vocabulary);
  token_bytes = header.token_bytes;
  content_hash.assign(header.content_hash.data(), header.content_hash.size());
  if (header.origin[0] != 0) made_of.assign(header.origin.data(), header.origin.size());
  starts = std::make_shared<const std::vector<std::uint64_t>>(read_documents(*file, header));
}

void TokenFile::read(std::int64_t begin, std::span<std::int32_t> out) const {
  std::uint64_t at = sizeof(TokenFileHeader) + std::uint64_t(begin) * token_bytes;
  if (token_bytes == 4) return file->read_at(at, out.data(), out.size_bytes());
  std::array<std::uint16_t, 8192> narrow;
  while (!out.empty()) {
    const std::size_t taken = std::min(out.size(), narrow.size());
    file->read_at(at, narrow.data(), 2 * taken);
    std::copy_n(narrow.data(), taken, out.data());
    out = out.subspan(taken);
    at += 2 * taken;
  }
}

std::uint64_t TokenFile::hash() const {
  std::uint64_t hash = 0;
  std::from_chars(content_hash.data(), content_hash.data() + 16, hash, 16);
  return hash;
}

void TokenFile::verify() const {
  if (hash_of_file(*file, sizeof(TokenFileHeader)) != content_hash)
    refuse(name, "its tokens are damaged: their hash is not the one in the header");
}

namespace detail {
bool is_token_file(const std::filesystem::path& path) {
  return begins_with(path, TokenFileHeader::expected_magic);
}
}  // namespace detail

}  // namespace sinter

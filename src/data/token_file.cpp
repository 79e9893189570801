// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/token_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <limits>

#include "data/token_file_header.hpp"
#include "files/hexadecimal.hpp"
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

std::shared_ptr<const std::byte> map(const std::filesystem::path& path, std::size_t bytes) {
  const Descriptor file = open_regular(path, O_RDONLY, Links::followed);
  void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) throw_file_error("map", path, errno);
  return {static_cast<const std::byte*>(memory),
          [bytes](const std::byte* at) { ::munmap(const_cast<std::byte*>(at), bytes); }};
}

template <class T>
void copy_tokens(const std::byte* tokens, std::int64_t begin, std::span<std::int32_t> out) {
  const auto* from = reinterpret_cast<const T*>(tokens) + begin;
  std::copy_n(from, out.size(), out.data());
}

}  // namespace

namespace detail {
std::uint64_t TokenFileHeader::hash() const {
  return XXH3_64bits(this, offsetof(TokenFileHeader, header_hash));
}
}  // namespace detail

TokenFile::TokenFile(std::filesystem::path path) : name(std::move(path)) {
  const InputFile file(name);
  const TokenFileHeader header = checked_header(file);
  require_sizes(file, header);
  count = std::int64_t(header.tokens);
  ids = std::int64_t(header.vocabulary);
  document_count = std::int64_t(header.documents);
  token_bytes = header.token_bytes;
  content_hash.assign(header.content_hash.data(), header.content_hash.size());
  if (header.origin[0] != 0) made_of.assign(header.origin.data(), header.origin.size());
  bytes = std::size_t(file.size());
  mapped = map(name, bytes);
}

std::span<const std::uint64_t> TokenFile::documents() const {
  const std::byte* at = mapped.get() + documents_offset(std::uint64_t(count), token_bytes);
  return {reinterpret_cast<const std::uint64_t*>(at), std::size_t(document_count)};
}

void TokenFile::read(std::int64_t begin, std::span<std::int32_t> out) const {
  const std::byte* tokens = mapped.get() + sizeof(TokenFileHeader);
  if (token_bytes == 2)
    copy_tokens<std::uint16_t>(tokens, begin, out);
  else
    copy_tokens<std::int32_t>(tokens, begin, out);
}

std::uint64_t TokenFile::hash() const {
  std::uint64_t hash = 0;
  std::from_chars(content_hash.data(), content_hash.data() + 16, hash, 16);
  return hash;
}

void TokenFile::verify() const {
  const std::byte* content = mapped.get() + sizeof(TokenFileHeader);
  if (hexadecimal(XXH3_128bits(content, bytes - sizeof(TokenFileHeader))) != content_hash)
    refuse(name, "its tokens are damaged: their hash is not the one in the header");
}

namespace detail {
bool is_token_file(const std::filesystem::path& path) {
  return begins_with(path, TokenFileHeader::expected_magic);
}
}  // namespace detail

}  // namespace sinter

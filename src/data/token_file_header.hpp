// SPDX-License-Identifier: Apache-2.0
// The first bytes of a token file; sinter/data/token_file.hpp says what they are.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace sinter::detail {

static_assert(std::endian::native == std::endian::little);

struct TokenFileHeader {
  static constexpr std::string_view expected_magic = "SINTERTK";
  static constexpr std::uint32_t expected_version = 1;

  std::array<char, 8> magic{'S', 'I', 'N', 'T', 'E', 'R', 'T', 'K'};
  std::uint32_t version = expected_version, token_bytes = 2;
  std::uint64_t tokens = 0, documents = 0, vocabulary = 0;
  std::array<char, 32> content_hash{}, origin{};
  std::uint64_t header_hash = 0;
  std::array<char, 16> zeros{};

  /// Of what stands before it.
  std::uint64_t hash() const;
};
static_assert(sizeof(TokenFileHeader) == 128);

/// Of a token file with a vocabulary.
constexpr std::uint32_t token_bytes_for(std::int64_t vocabulary) {
  return vocabulary <= 65'536 ? 2 : 4;
}
/// Where the documents begin.
constexpr std::uint64_t documents_offset(std::uint64_t tokens, std::uint64_t token_bytes) {
  return (sizeof(TokenFileHeader) + tokens * token_bytes + 7) / 8 * 8;
}

}  // namespace sinter::detail

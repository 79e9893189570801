// SPDX-License-Identifier: Apache-2.0
// The characters of a text, and the kinds that the patterns of tokenizers tell apart.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "files/utf8.hpp"

namespace sinter::detail {

/// Which of \p{L}, \p{N} and \s a character is, in the terms of regular expressions.
/// scripts/unicode_kinds.py writes these numbers.
enum class CharacterKind : std::uint8_t { other, letter, number, space };

/// The kind of each code point, by Unicode 16.
const CharacterKind* character_kinds();

/// A character at a place of a text. A byte that is no part of well-formed UTF-8 is a character of
/// its own, of the kind `other`.
struct Character {
  CharacterKind kind;
  std::uint32_t code;  // no code point has the number that stands for an ill-formed byte
  std::size_t bytes;
};

inline constexpr std::uint32_t ill_formed = 0xffffffff;

/// The code point of a well-formed character of so many bytes.
inline std::uint32_t code_point(const char* at, std::size_t bytes) {
  auto byte = [&](std::size_t k) { return std::uint32_t(static_cast<unsigned char>(at[k])); };
  if (bytes == 1) return byte(0);
  if (bytes == 2) return (byte(0) & 31) << 6 | (byte(1) & 63);
  if (bytes == 3) return (byte(0) & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63);
  return (byte(0) & 7) << 18 | (byte(1) & 63) << 12 | (byte(2) & 63) << 6 | (byte(3) & 63);
}

/// The text from `at` on must not be empty.
inline Character character_at(const CharacterKind* kinds, const char* at, const char* end) {
  const auto first = static_cast<unsigned char>(*at);
  if (first < 0x80) return {kinds[first], first, 1};
  const std::size_t bytes = well_formed({at, std::size_t(end - at)});
  if (bytes == 0) return {CharacterKind::other, ill_formed, 1};
  const std::uint32_t code = code_point(at, bytes);
  return {kinds[code], code, bytes};
}

/// Where the character begins that ends before `end`, which is at least 1.
std::size_t character_before(std::string_view text, std::size_t end);

/// Appends a code point as UTF-8.
void append_utf8(std::string& text, std::uint32_t code);

/// A text with `to` in place of each `from`, which is not empty.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

}  // namespace sinter::detail

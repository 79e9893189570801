// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/characters.hpp"

#include <algorithm>
#include <vector>

#include "data/tokenizer/unicode_kinds.hpp"
#include "data/tokenizer/unicode_text.hpp"

namespace sinter::detail {

const CharacterKind* character_kinds() {
  static const std::vector<CharacterKind> kinds = [] {
    std::vector<CharacterKind> all(0x110000, CharacterKind::other);
    for (const auto& [first, last, kind] : unicode::ranges_in(character_ranges))
      std::fill(all.begin() + first, all.begin() + last + 1, CharacterKind(kind));
    return all;
  }();
  return kinds.data();
}

std::size_t character_before(std::string_view text, std::size_t end) {
  constexpr std::size_t longest = 4;
  for (std::size_t at = end; at-- > 0 && end - at <= longest;)
    if (well_formed(text.substr(at, end - at)) == end - at) return at;
  return end - 1;
}

void append_utf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += char(code);
    return;
  }
  if (code < 0x800) {
    text += char(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      text += char(0xe0 | code >> 12);
    } else {
      text += char(0xf0 | code >> 18);
      text += char(0x80 | (code >> 12 & 63));
    }
    text += char(0x80 | (code >> 6 & 63));
  }
  text += char(0x80 | (code & 63));
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t at; (at = text.find(from)) != text.npos;) {
    result.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return result.append(text);
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/characters.hpp"

#include <algorithm>
#include <vector>

#include "data/tokenizer/unicode_kinds.hpp"

namespace sinter {

const CharacterKind* character_kinds() {
  static const std::vector<CharacterKind> kinds = [] {
    std::vector<CharacterKind> all(0x110000, CharacterKind::other);
    for (const CharacterRange& range : character_ranges)
      std::fill(all.begin() + range.first, all.begin() + range.last + 1, range.kind);
    return all;
  }();
  return kinds.data();
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t at; (at = text.find(from)) != text.npos;) {
    result.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return result.append(text);
}

}  // namespace sinter

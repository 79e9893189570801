// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/line_cut.hpp"

#include <algorithm>

#include "data/tokenizer/characters.hpp"

namespace sinter::detail {
namespace {

bool is_space(std::string_view text, std::size_t at) {
  const Character found = character_at(character_kinds(), &text[at], text.data() + text.size());
  return found.kind == CharacterKind::space;
}

}  // namespace

std::optional<std::size_t> line_cut(std::string_view text, std::size_t from) {
  for (std::size_t at = std::max<std::size_t>(from, 2); at < text.size(); ++at) {
    const std::size_t newline = text.find('\n', at - 1);
    if (newline == text.npos || newline + 1 >= text.size()) return {};
    at = newline + 1;
    if (!is_space(text, at) && !is_space(text, character_before(text, newline))) return at;
  }
  return {};
}

}  // namespace sinter::detail

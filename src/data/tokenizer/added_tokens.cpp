// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/added_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "data/tokenizer/categories.hpp"
#include "data/tokenizer/characters.hpp"
#include "data/tokenizer/vocabulary.hpp"

namespace sinter::detail {
namespace {

std::size_t first_byte(const AddedToken& token) {
  return static_cast<unsigned char>(token.text.front());
}

/// Where the white space at the end of text[from, end) begins.
std::size_t blanks_before(std::string_view text, std::size_t from, std::size_t end) {
  std::size_t begin = from;
  for (std::size_t at = from; at < end;) {
    const Character next = character_at(character_kinds(), text.data() + at, text.data() + end);
    at += next.bytes;
    if (next.kind != CharacterKind::space) begin = at;
  }
  return begin;
}

std::size_t blanks_after(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const Character next =
        character_at(character_kinds(), text.data() + at, text.data() + text.size());
    if (next.kind != CharacterKind::space) break;
    at += next.bytes;
  }
  return at;
}

bool is_word_part(std::string_view text, std::size_t at) {
  const Character next =
      character_at(character_kinds(), text.data() + at, text.data() + text.size());
  return next.code != ill_formed && character_categories()[next.code] & word_neighbour;
}

/// Whether text[begin, end) stands between characters that are no parts of words.
bool stands_alone(std::string_view text, std::size_t begin, std::size_t end) {
  if (end < text.size() && is_word_part(text, end)) return false;
  return begin == 0 || !is_word_part(text, character_before(text, begin));
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> all) : tokens(std::move(all)) {
  std::ranges::sort(tokens, [](const AddedToken& a, const AddedToken& b) {
    return std::make_tuple(first_byte(a), b.text.size(), std::string_view(a.text)) <
           std::make_tuple(first_byte(b), a.text.size(), std::string_view(b.text));
  });
  for (std::uint32_t k = 0; k < tokens.size(); ++k) {
    auto& [begin, end] = with_first[first_byte(tokens[k])];
    if (end == 0) begin = k;
    end = k + 1;
  }
  if (!tokens.empty() && first_byte(tokens.front()) == first_byte(tokens.back()))
    only_first = int(first_byte(tokens.front()));
}

const AddedToken* AddedTokens::beginning(std::string_view text) const {
  const auto [begin, end] = with_first[static_cast<unsigned char>(text.front())];
  for (std::uint32_t k = begin; k < end; ++k)
    if (text.starts_with(tokens[k].text)) return &tokens[k];
  return nullptr;
}

std::optional<AddedTokens::Found> AddedTokens::find(std::string_view text, std::size_t from) const {
  if (tokens.empty()) return std::nullopt;
  for (std::size_t at = from; at < text.size(); ++at) {
    if (only_first >= 0) {
      at = text.find(char(only_first), at);
      if (at == text.npos) break;
    }
    const AddedToken* token = beginning(text.substr(at));
    if (!token) continue;
    const std::size_t end = at + token->text.size();
    if (token->single_word && !stands_alone(text, at, end)) {
      at = end - 1;
      continue;
    }
    return Found{token->strips_left ? blanks_before(text, from, at) : at,
                 token->strips_right ? blanks_after(text, end) : end, token};
  }
  return std::nullopt;
}

std::vector<AddedToken> those(const std::vector<AddedToken>& all, bool normalized) {
  std::vector<AddedToken> some;
  std::ranges::copy_if(all, std::back_inserter(some),
                       [&](const AddedToken& token) { return token.normalized == normalized; });
  return some;
}

std::vector<AddedToken> with_normal_texts(std::vector<AddedToken> tokens,
                                          const Normalizer& normalizer) {
  for (AddedToken& token : tokens) {
    std::string normal = normalizer.apply(token.text);
    if (normal.empty())
      throw TokenizerProblem(fmt::format(
          "nothing is left of the added token {} when it is normalised", shown(token.text)));
    token.text = std::move(normal);
  }
  return tokens;
}

}  // namespace sinter::detail

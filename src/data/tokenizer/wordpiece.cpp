// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/wordpiece.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "data/tokenizer/characters.hpp"
#include "data/tokenizer/normal_forms.hpp"
#include "data/tokenizer/vocabulary.hpp"

namespace sinter::detail {
namespace {

/// What the decoder of tokenizers does with the text of each token.
std::string cleaned_up(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> changes[]{
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : changes) text = replaced(text, from, to);
  return text;
}

std::size_t characters_of(std::string_view word) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  return std::size_t(std::ranges::count_if(word, begins));
}

/// The end of the last character but one before `end`.
std::size_t previous_character(std::string_view word, std::size_t end) {
  do --end;
  while (end > 0 && (static_cast<unsigned char>(word[end]) & 0xc0) == 0x80);
  return end;
}

}  // namespace

void cut_words(std::string_view text, const std::function<void(std::string_view)>& word) {
  const UnicodeTables& tables = UnicodeTables::get();
  const CharacterKind* const kinds = character_kinds();
  const char *at = text.data(), *begin = at, *const end = at + text.size();
  auto finish = [&] {
    if (at > begin) word({begin, std::size_t(at - begin)});
  };
  while (at != end) {
    const Character next = character_at(kinds, at, end);
    const bool alone = next.code != ill_formed && tables.has(next.code, unicode::punctuation);
    if (!alone && next.kind != CharacterKind::space) {
      at += next.bytes;
      continue;
    }
    finish();
    if (alone) word({at, next.bytes});
    at += next.bytes;
    begin = at;
  }
  finish();
}

WordPiece::WordPiece(WordPieceParts all) : parts(std::move(all)) {
  early = AddedTokens(those(parts.added, false));
  std::vector<AddedToken> normal = with_normal_texts(those(parts.added, true), parts.normalizer);
  for (const AddedToken& token : normal) parts.tokens[std::size_t(token.id)] = token.text;
  late = AddedTokens(std::move(normal));
  for (const WordPieceParts::Pieces* pieces : {&parts.first, &parts.following})
    for (const auto& [text, id] : *pieces) longest_piece = std::max(longest_piece, text.size());
}

std::vector<std::int32_t> WordPiece::encode(std::string_view text) const {
  std::vector<std::int32_t> tokens;
  auto token = [&](std::int32_t id) { tokens.push_back(id); };
  auto word = [&](std::string_view whole) {
    if (parts.word_splits.empty()) return add_word(whole, tokens);
    for (const std::string_view piece : cut_by(parts.word_splits, whole)) add_word(piece, tokens);
  };
  auto words = [&](std::string_view part) {
    if (parts.text_splits.empty()) return cut_words(part, word);
    for (const std::string_view piece : cut_by(parts.text_splits, part)) cut_words(piece, word);
  };
  auto normalise = [&](std::string_view part) {
    late.cut(parts.normalizer.apply(std::string(part)), words, token);
  };
  early.cut(text, normalise, token);
  return tokens;
}

/// The longest piece that fits, and the same with what is left of the word.
void WordPiece::add_word(std::string_view word, std::vector<std::int32_t>& to) const {
  const std::size_t before = to.size();
  auto is_unknown = [&] {
    to.resize(before);
    to.push_back(parts.unknown);
  };
  if (word.size() > parts.longest_word && characters_of(word) > parts.longest_word)
    return is_unknown();
  for (bool first = true; !word.empty(); first = false) {
    const WordPieceParts::Pieces& pieces = first ? parts.first : parts.following;
    std::size_t end = word.size();
    while (end > longest_piece) end = previous_character(word, end);
    auto found = pieces.end();
    for (; end > 0; end = previous_character(word, end))
      if (found = pieces.find(word.substr(0, end)); found != pieces.end()) break;
    if (found == pieces.end()) return is_unknown();
    to.push_back(found->second);
    word.remove_prefix(end);
  }
}

const std::string& WordPiece::spelling(std::int32_t token) const {
  return text_of_token(parts.tokens, token);
}

std::string WordPiece::decode(std::int32_t token) const {
  std::string text = spelling(token);
  if (text.starts_with(parts.joined))
    text.erase(0, parts.joined.size());
  else
    text.insert(0, 1, ' ');
  return parts.cleanup ? cleaned_up(std::move(text)) : text;
}

std::string WordPiece::decode_first(std::int32_t token) const {
  const std::string& text = spelling(token);
  return parts.cleanup ? cleaned_up(text) : text;
}

namespace {

/// Words end at white space. What may span lines are added tokens with a blank, which a newline may
/// have become, and those that take what stands before them.
bool cuts_at_lines(const WordPieceParts& parts) {
  const auto spans = [](const AddedToken& token) {
    return token.strips_left || std::ranges::any_of(token.text, [](char c) {
             return c >= 0 && character_kinds()[int(c)] == CharacterKind::space;
           });
  };
  return parts.normalizer.sees_no_lines() &&
         std::ranges::all_of(parts.text_splits, &SplitStep::cuts_at_lines) &&
         std::ranges::none_of(parts.added, spans) &&
         std::ranges::none_of(with_normal_texts(those(parts.added, true), parts.normalizer), spans);
}

}  // namespace

Tokenizer tokenizer_of(WordPieceParts parts) {
  Tokenizer tokenizer;
  tokenizer.cuts_at_lines = cuts_at_lines(parts);
  tokenizer.vocabulary = std::int32_t(parts.tokens.size());
  tokenizer.special = parts.special;
  auto pieces = std::make_shared<const WordPiece>(std::move(parts));
  tokenizer.encode = [pieces](std::string_view text) { return pieces->encode(text); };
  tokenizer.decode = [pieces](std::int32_t token) { return pieces->decode(token); };
  tokenizer.decode_first = [pieces](std::int32_t token) { return pieces->decode_first(token); };
  return tokenizer;
}

}  // namespace sinter::detail

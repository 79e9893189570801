// SPDX-License-Identifier: Apache-2.0
#include "metric/words.hpp"

#include <algorithm>
#include <utility>

#include "data/tokenizer/characters.hpp"
#include "data/tokenizer/normalizer.hpp"

namespace sinter::detail {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
/// True for the 32 characters of ASCII that are no letter, digit, blank or control character.
constexpr bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}
/// True for punctuation that 13a always makes a word of its own.
constexpr bool is_apart_in_13a(char c) {
  return is_punctuation(c) && c != '\'' && c != '-' && c != '.' && c != ',';
}
constexpr bool is_point(char c) { return c == '.' || c == ','; }

/// Calls `use` with each character and its bytes.
void each_character(std::string_view text, auto&& use) {
  const CharacterKind* kinds = character_kinds();
  while (!text.empty()) {
    const Character character = character_at(kinds, text.data(), text.data() + text.size());
    use(character, text.substr(0, character.bytes));
    text.remove_prefix(character.bytes);
  }
}

/// True for white space of Python's str.
bool is_space(const Character& c) {
  return c.kind == CharacterKind::space || (c.code >= 0x1c && c.code <= 0x1f);
}
/// True for what \w of Python's re matches.
bool is_of_word(const Character& c) {
  return c.kind == CharacterKind::letter || c.kind == CharacterKind::number || c.code == '_';
}

std::string in_small_letters(std::string_view text) {
  return Normalizer({Change::lowercase}).apply(std::string(text));
}

/// Replaces each run of word characters that is an article by a blank.
std::string without_articles(std::string_view text) {
  std::string out, run;
  const auto end_run = [&] {
    out += run == "a" || run == "an" || run == "the" ? " " : run;
    run.clear();
  };
  each_character(text, [&](const Character& character, std::string_view bytes) {
    if (is_of_word(character)) {
      run += bytes;
    } else {
      end_run();
      out += bytes;
    }
  });
  end_run();
  return out;
}

/// Puts a blank behind a point or comma that follows anything but a digit.
std::string split_behind_others(std::string_view text) {
  std::string out;
  for (std::size_t k = 0; k < text.size(); ++k) {
    out += text[k];
    if (is_digit(text[k]) || k + 1 == text.size() || !is_point(text[k + 1])) continue;
    (out += ' ') += text[++k];
    out += ' ';
  }
  return out;
}
/// Puts blanks around a point or comma that anything but a digit follows.
std::string split_before_others(std::string_view text) {
  std::string out;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (!is_point(text[k]) || k + 1 == text.size() || is_digit(text[k + 1])) {
      out += text[k];
      continue;
    }
    ((out += ' ') += text[k]) += ' ';
    out += text[++k];
  }
  return out;
}
/// Puts blanks around a dash that follows a digit.
std::string split_dashes(std::string_view text) {
  std::string out;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const bool splits = text[k] == '-' && k > 0 && is_digit(text[k - 1]);
    out += splits ? " - " : std::string(1, text[k]);
  }
  return out;
}

}  // namespace

std::vector<std::string> words_at_space(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  each_character(text, [&](const Character& character, std::string_view bytes) {
    is_space(character) ? end_word() : void(word += bytes);
  });
  end_word();
  return words;
}

std::vector<std::string> normalised_words(std::string_view text, Normalisation normalisation) {
  std::string plain;
  for (const char c : in_small_letters(text))
    if (!is_punctuation(c))
      plain += c;
    else if (normalisation == Normalisation::parlai)
      plain += ' ';
  return words_at_space(without_articles(plain));
}

std::vector<std::string> words_of_13a(std::string_view text) {
  std::string line(text);
  while (!line.empty()) {  // white space at the end goes first: a dash before it stays
    const std::size_t last = character_before(line, line.size());
    const std::string_view end = std::string_view(line).substr(last);
    if (!is_space(character_at(character_kinds(), end.data(), end.data() + end.size()))) break;
    line.resize(last);
  }
  const std::pair<std::string_view, std::string_view> changes[] = {
      {"<skipped>", ""}, {"-\n", ""},   {"\n", " "},  {"&quot;", "\""},
      {"&amp;", "&"},    {"&lt;", "<"}, {"&gt;", ">"}};
  for (const auto& [from, to] : changes) line = replaced(line, from, to);
  std::string apart = " ";
  for (const char c : line)
    apart += is_apart_in_13a(c) ? std::string{' ', c, ' '} : std::string(1, c);
  apart += ' ';
  return words_at_space(split_dashes(split_before_others(split_behind_others(apart))));
}

std::vector<std::string> words_of_rouge(std::string_view text) {
  std::string plain = in_small_letters(text);
  for (char& c : plain)
    if (!is_digit(c) && !(c >= 'a' && c <= 'z')) c = ' ';
  return words_at_space(plain);
}

std::string joined(std::span<const std::string> words, std::size_t first, std::size_t count) {
  std::string text = words[first];
  for (std::size_t k = 1; k < count; ++k) (text += '\n') += words[first + k];
  return text;
}

}  // namespace sinter::detail

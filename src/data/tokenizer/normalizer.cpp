// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/normalizer.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include "data/tokenizer/characters.hpp"
#include "data/tokenizer/normal_forms.hpp"

namespace sinter::detail {
namespace {

/// The text with put(out, character, its bytes) in place of each character.
template <class Put>
std::string mapped(std::string_view text, Put&& put) {
  const CharacterKind* const kinds = character_kinds();
  std::string out;
  out.reserve(text.size());
  for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
    const Character next = character_at(kinds, at, end);
    put(out, next, std::string_view(at, next.bytes));
    at += next.bytes;
  }
  return out;
}

bool has(const Character& character, unicode::Traits trait) {
  return character.code != ill_formed && UnicodeTables::get().has(character.code, trait);
}

std::string without(std::string_view text, unicode::Traits trait) {
  return mapped(text, [&](std::string& out, const Character& character, std::string_view bytes) {
    if (!has(character, trait)) out += bytes;
  });
}

std::string cleaned(std::string_view text) {
  return mapped(text, [](std::string& out, const Character& character, std::string_view bytes) {
    if (character.code == ill_formed || has(character, unicode::removed)) return;
    if (character.kind == CharacterKind::space)
      out += ' ';
    else
      out += bytes;
  });
}

std::string chinese_spaced(std::string_view text) {
  return mapped(text, [](std::string& out, const Character& character, std::string_view bytes) {
    if (has(character, unicode::chinese))
      out.append(" ").append(bytes).append(" ");
    else
      out += bytes;
  });
}

std::string lowercase(std::string_view text) {
  const UnicodeTables& tables = UnicodeTables::get();
  return mapped(text, [&](std::string& out, const Character& character, std::string_view bytes) {
    if (character.code < 0x80) {
      const char c = bytes.front();
      out += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
      return;
    }
    const auto small = character.code == ill_formed ? std::span<const std::uint32_t>()
                                                    : tables.small_letter(character.code);
    for (const std::uint32_t code : small) append_utf8(out, code);
    if (small.empty()) out += bytes;
  });
}

/// Whether a change leaves texts of ASCII alone.
bool spares_ascii(Change change) { return change != Change::lowercase && change != Change::clean; }

std::string changed(const std::string& text, Change change) {
  switch (change) {
    case Change::nfc:
      return normal_form(text, true);
    case Change::nfd:
      return normal_form(text, false);
    case Change::nfkc:
      return normal_form(text, true, true);
    case Change::nfkd:
      return normal_form(text, false, true);
    case Change::lowercase:
      return lowercase(text);
    case Change::strip_accents:
      return without(text, unicode::combining);
    case Change::clean:
      return cleaned(text);
    case Change::space_chinese:
      return chinese_spaced(text);
    case Change::strip_marks:
      return without(text, unicode::mark);
  }
  return text;
}

std::string changed(const std::string& text, const Replacement& replacement) {
  std::string out;
  replacement.pattern->cut(text, [&](std::size_t begin, std::size_t end, bool is_match) {
    if (is_match)
      out += replacement.text;
    else
      out.append(text, begin, end - begin);
  });
  return out;
}

}  // namespace

void Normalizer::add(const BertNormalizing& options) {
  if (options.clean_text) add(Change::clean);
  if (options.handle_chinese_chars) add(Change::space_chinese);
  if (options.strip_accents) {
    add(Change::nfd);
    add(Change::strip_marks);
  }
  if (options.lowercase) add(Change::lowercase);
}

bool Normalizer::keeps_space() const {
  return std::ranges::all_of(changes, [](const auto& each) {
    const Change* const change = std::get_if<Change>(&each);
    return change &&
           (*change == Change::nfc || *change == Change::nfd || *change == Change::lowercase);
  });
}

bool Normalizer::sees_no_lines() const {
  return std::ranges::all_of(changes, [](const auto& each) { return each.index() == 0; });
}

std::string Normalizer::apply(std::string text) const {
  for (const auto& each : changes) {
    const Change* const change = std::get_if<Change>(&each);
    const bool ascii = std::ranges::all_of(text, [](char c) { return c >= 0; });
    if (!change)
      text = changed(text, std::get<Replacement>(each));
    else if (!ascii || !spares_ascii(*change))
      text = changed(text, *change);
  }
  return text;
}

}  // namespace sinter::detail

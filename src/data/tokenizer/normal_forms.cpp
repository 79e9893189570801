// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/normal_forms.hpp"

#include <algorithm>
#include <tuple>

#include "data/tokenizer/characters.hpp"
#include "data/tokenizer/unicode_compatible.hpp"
#include "data/tokenizer/unicode_normal.hpp"
#include "data/tokenizer/unicode_text.hpp"

namespace sinter::detail {
namespace {

constexpr std::size_t code_points = 0x110000;

/// Hangul's syllables are composed of jamos by a formula (The Unicode Standard, 3.12).
namespace hangul {
constexpr std::uint32_t syllables = 0xac00, leads = 0x1100, vowels = 0x1161, trails = 0x11a7;
constexpr std::uint32_t lead_count = 19, vowel_count = 21, trail_count = 28;
constexpr std::uint32_t of_lead = vowel_count * trail_count, count = lead_count * of_lead;

constexpr bool is_syllable(std::uint32_t code) { return code - syllables < count; }

void decompose(std::uint32_t code, std::u32string& to) {
  const std::uint32_t number = code - syllables;
  to += char32_t(leads + number / of_lead);
  to += char32_t(vowels + number % of_lead / trail_count);
  if (number % trail_count > 0) to += char32_t(trails + number % trail_count);
}

std::uint32_t composition(std::uint32_t first, std::uint32_t second) {
  if (first - leads < lead_count && second - vowels < vowel_count)
    return syllables + (first - leads) * of_lead + (second - vowels) * trail_count;
  const bool open = is_syllable(first) && (first - syllables) % trail_count == 0;
  if (open && second > trails && second - trails < trail_count) return first + (second - trails);
  return 0;
}
}  // namespace hangul

constexpr std::uint64_t pair(std::uint32_t first, std::uint32_t second) {
  return std::uint64_t(first) << 32 | second;
}

std::vector<std::uint8_t> expanded(std::string_view table) {
  std::vector<std::uint8_t> values(code_points);
  for (const unicode::Range& range : unicode::ranges_in(table))
    std::fill(values.begin() + range.first, values.begin() + range.last + 1, range.value);
  return values;
}

/// Calls take(code, characters) for the entries of a list.
template <class Take>
void each_text(std::span<const std::uint32_t> list, Take&& take) {
  for (std::size_t at = 0; at < list.size(); at += 2 + list[at + 1])
    take(list[at], list.subspan(at + 2, list[at + 1]));
}

/// Sorts marks by their classes; those of one class stay in order.
void sort_marks(std::u32string& text, const UnicodeTables& tables) {
  auto class_of = [&](char32_t c) { return tables.combining_class(c); };
  std::vector<std::tuple<std::uint8_t, std::size_t, char32_t>> marks;
  for (auto at = text.begin(); at != text.end();) {
    at = std::find_if(at, text.end(), class_of);
    const auto after = std::find_if_not(at, text.end(), class_of);
    if (after - at > 1) {
      marks.clear();
      for (auto mark = at; mark != after; ++mark)
        marks.emplace_back(class_of(*mark), marks.size(), *mark);
      std::ranges::sort(marks);
      std::ranges::transform(marks, at, [](const auto& mark) { return std::get<char32_t>(mark); });
    }
    at = after;
  }
}

/// Joins each character to the last of class 0 before it, unless one between has its class or more.
void compose(std::u32string& text, const UnicodeTables& tables) {
  constexpr int adjacent = -1;
  std::size_t starter = text.npos, count = 0;
  int between = adjacent;
  for (const char32_t c : text) {
    const int own = tables.combining_class(c);
    if (starter != text.npos && between < own) {
      if (const std::uint32_t joined = tables.composition(text[starter], c)) {
        text[starter] = char32_t(joined);
        continue;
      }
    }
    if (own == 0) starter = count;
    between = own == 0 ? adjacent : own;
    text[count++] = c;
  }
  text.resize(count);
}

}  // namespace

UnicodeTables::UnicodeTables()
    : traits(expanded(unicode::traits)),
      classes(expanded(unicode::combining_classes)),
      shapes(code_points),
      decomposition_list(unicode::texts_in(unicode::decompositions)),
      compatible_list(unicode::texts_in(unicode::compatible_decompositions)),
      small_letter_list(unicode::texts_in(unicode::small_letters)) {
  each_text(decomposition_list, [&](std::uint32_t code, auto parts) {
    decompositions.emplace(code, parts);
    shapes[code] |= decomposes;
  });
  each_text(compatible_list, [&](std::uint32_t code, auto parts) {
    compatibles.emplace(code, parts);
    shapes[code] |= compatible;
  });
  each_text(small_letter_list, [&](std::uint32_t code, auto parts) {
    small_letters.emplace(code, parts);
    shapes[code] |= capital;
  });
  for (const auto& [first, second, whole] : unicode::compositions_in(unicode::compositions)) {
    compositions.emplace(pair(first, second), whole);
    shapes[whole] |= composed;
    shapes[second] |= joins;
  }
  add_hangul();
  for (std::uint32_t code = 0; code < code_points; ++code)
    if (classes[code] > 0) shapes[code] |= joins;
  for (const auto& [code, parts] : decompositions) shapes[code] |= shapes[parts[0]] & joins;
  for (const auto& [code, parts] : compatibles)
    if (shapes[parts[0]] & joins) shapes[code] |= joins_compatible;
}

void UnicodeTables::add_hangul() {
  for (std::uint32_t k = 0; k < hangul::count; ++k)
    shapes[hangul::syllables + k] |= decomposes | composed;
  for (std::uint32_t k = 0; k < hangul::vowel_count; ++k) shapes[hangul::vowels + k] |= joins;
  for (std::uint32_t k = 1; k < hangul::trail_count; ++k) shapes[hangul::trails + k] |= joins;
}

const UnicodeTables& UnicodeTables::get() {
  static const UnicodeTables tables;
  return tables;
}

void UnicodeTables::decompose(std::uint32_t code, bool compatibly, std::u32string& to) const {
  if (compatibly && (shapes[code] & compatible)) {
    const auto parts = compatibles.at(code);
    to.append(parts.begin(), parts.end());
  } else if (!(shapes[code] & decomposes)) {
    to += char32_t(code);
  } else if (hangul::is_syllable(code)) {
    hangul::decompose(code, to);
  } else {
    const auto parts = decompositions.at(code);
    to.append(parts.begin(), parts.end());
  }
}

std::uint32_t UnicodeTables::composition(std::uint32_t first, std::uint32_t second) const {
  if (!(shapes[second] & joins)) return 0;
  if (const std::uint32_t syllable = hangul::composition(first, second)) return syllable;
  auto found = compositions.find(pair(first, second));
  return found == compositions.end() ? 0 : found->second;
}

std::span<const std::uint32_t> UnicodeTables::small_letter(std::uint32_t code) const {
  if (!(shapes[code] & capital)) return {};
  return small_letters.at(code);
}

std::string normal_form(std::string_view text, bool composing, bool compatibly) {
  const UnicodeTables& tables = UnicodeTables::get();
  const CharacterKind* const kinds = character_kinds();
  const char *const end = text.data() + text.size(), *begin = text.data();
  std::string out;
  out.reserve(text.size());
  std::u32string group;  // from `begin` on, what may hang together
  bool changes = false;
  auto finish = [&](const char* at) {
    if (!changes && group.size() <= 1) {
      out.append(begin, at);
    } else {
      std::u32string parts;
      for (const char32_t c : group) tables.decompose(c, compatibly, parts);
      sort_marks(parts, tables);
      if (composing) compose(parts, tables);
      for (const char32_t c : parts) append_utf8(out, c);
    }
    group.clear();
    changes = false;
    begin = at;
  };
  for (const char* at = begin; at != end;) {
    const Character next = character_at(kinds, at, end);
    if (next.code == ill_formed || !tables.joins_before(next.code, compatibly)) finish(at);
    at += next.bytes;
    if (next.code == ill_formed) {
      finish(at);
    } else {
      group += char32_t(next.code);
      changes = changes || tables.changes(next.code, composing, compatibly);
    }
  }
  finish(end);
  return out;
}

}  // namespace sinter::detail

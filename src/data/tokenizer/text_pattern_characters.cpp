// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/text_pattern_characters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "data/tokenizer/vocabulary.hpp"

namespace sinter::detail {

bool is_ascii_letter(std::uint32_t code) {
  return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
}

void add_any_case(CharacterSet& set, std::uint32_t letter) {
  const std::uint32_t small = letter | 0x20;
  set.add(small, small);
  set.add(small - 0x20, small - 0x20);
  if (small == 's') set.add(0x17f, 0x17f);
  if (small == 'k') set.add(0x212a, 0x212a);
}

void PatternCharacters::refuse(std::string_view what) const {
  throw TokenizerProblem(
      fmt::format("it cuts texts by the pattern {}, in which {} at byte {} is not understood",
                  shown(pattern), what, std::min(at, pattern.size()) + 1));
}

std::size_t PatternCharacters::well_formed_prefix() const {
  std::size_t end = 0;
  while (end < pattern.size()) {
    const std::size_t bytes = well_formed(pattern.substr(end));
    if (bytes == 0) break;
    end += bytes;
  }
  return end;
}

std::uint32_t PatternCharacters::next_code() {
  if (!left()) refuse("an end");
  const std::size_t bytes = well_formed(pattern.substr(at));
  const std::uint32_t code = code_point(pattern.data() + at, bytes);
  at += bytes;
  return code;
}

std::optional<CharacterSet> PatternCharacters::escaped_set() {
  if (at + 1 >= pattern.size()) refuse("a \\ at the end");
  const char letter = pattern[at + 1];
  if (letter == 'p' || letter == 'P') return category();
  const char small = char(letter | 0x20);
  if (small != 's' && small != 'd' && small != 'w') return {};
  if (!is_ascii_letter(static_cast<unsigned char>(letter))) return {};
  at += 2;
  CharacterSet set = escape_set(small);
  if (letter != small) set.negate();
  return set;
}

CharacterSet PatternCharacters::category() {
  const std::size_t open = at + 2, close_at = pattern.find('}', at);
  if (open >= pattern.size() || pattern[open] != '{' || close_at == pattern.npos)
    refuse("a \\p without a name in braces");
  std::string_view name = pattern.substr(open + 1, close_at - open - 1);
  bool negated = pattern[at + 1] == 'P';
  if (name.starts_with('^')) negated = !negated, name.remove_prefix(1);
  std::optional<CharacterSet> set = category_set(name);
  if (!set) refuse(fmt::format("the property '{}'", name));
  if (any_case) refuse("a property without regard to case");
  if (negated) set->negate();
  at = close_at + 1;
  return std::move(*set);
}

std::uint32_t PatternCharacters::escaped_code() {
  const char letter = at + 1 < pattern.size() ? pattern[at + 1] : '\0';
  constexpr std::string_view names = "nrtfvae", codes = "\n\r\t\f\v\a\x1b";
  if (const std::size_t which = names.find(letter); which != names.npos) {
    at += 2;
    return static_cast<unsigned char>(codes[which]);
  }
  if (letter == 'u') return hexadecimal(at + 2, 4, at + 6);
  if (letter == 'x' && at + 2 < pattern.size() && pattern[at + 2] == '{') {
    const std::size_t close_at = pattern.find('}', at);
    if (close_at == pattern.npos) refuse("a \\x{ without its }");
    return hexadecimal(at + 3, close_at - at - 3, close_at + 1);
  }
  if (letter == 'x') {
    const std::uint32_t code = hexadecimal(at + 2, 2, at + 4);
    if (code >= 0x80) refuse("a \\x of a byte");
    return code;
  }
  const bool word = is_ascii_letter(static_cast<unsigned char>(letter)) ||
                    (letter >= '0' && letter <= '9') || letter == '_';
  if (word) refuse(fmt::format("\\{}", letter));
  ++at;
  return next_code();
}

std::uint32_t PatternCharacters::hexadecimal(std::size_t from, std::size_t digits,
                                             std::size_t after) {
  std::uint32_t code = 0;
  const bool there = digits > 0 && from + digits <= pattern.size();
  const char* const begin = pattern.data() + from;
  if (!there || std::from_chars(begin, begin + digits, code, 16).ptr != begin + digits ||
      code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
    refuse("a code point in hexadecimal digits");
  at = after;
  return code;
}

CharacterSet PatternCharacters::set_in_brackets() {
  if (++depth > deepest_group) refuse("brackets so deep");
  const bool negated = takes("^");
  if (negated && any_case) refuse("[^ without regard to case");
  CharacterSet set;
  if (pattern.substr(at).starts_with("]")) refuse("a ] as the first in brackets");
  while (!takes("]")) {
    if (!left()) refuse("a [ without its ]");
    if (pattern.substr(at).starts_with("[:")) refuse("[:");
    if (pattern.substr(at).starts_with("&&")) refuse("&&");
    if (takes("["))
      set.add(set_in_brackets()), no_range();
    else if (std::optional<CharacterSet> some = escaped_or_none())
      set.add(*some), no_range();
    else
      add_range(set);
  }
  if (negated) set.negate();
  --depth;
  return set;
}

std::optional<CharacterSet> PatternCharacters::escaped_or_none() {
  return pattern[at] == '\\' ? escaped_set() : std::nullopt;
}

void PatternCharacters::no_range() const {
  if (pattern.substr(at).starts_with("-") && !pattern.substr(at).starts_with("-]"))
    refuse("a range from a set");
}

void PatternCharacters::add_range(CharacterSet& set) {
  const bool dash = pattern[at] == '-';
  const std::uint32_t first = bracket_code();
  std::uint32_t last = first;
  const std::string_view rest = pattern.substr(at);
  if (rest.starts_with("-") && !rest.starts_with("-]")) {
    if (dash) refuse("a range from -");
    ++at;
    if (pattern[at] == '[') refuse("a range to a set");
    last = bracket_code();
    if (last < first) refuse("a range backwards");
    no_range();
  }
  set.add(first, last);
  if (!any_case) return;
  for (std::uint32_t code = first; code <= last; ++code) {
    if (code >= 0x80) refuse("a letter that is not of ASCII, without regard to case,");
    if (is_ascii_letter(code)) add_any_case(set, code);
  }
}

std::uint32_t PatternCharacters::bracket_code() {
  if (!left()) refuse("a [ without its ]");
  if (pattern[at] != '\\') return next_code();
  if (escaped_set()) refuse("a range to a set");
  return escaped_code();
}

}  // namespace sinter::detail

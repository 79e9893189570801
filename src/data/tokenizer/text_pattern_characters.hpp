// SPDX-License-Identifier: Apache-2.0
// The text of a pattern, read by character and by set, for the parser of its steps.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "data/tokenizer/character_set.hpp"

namespace sinter::detail {

inline constexpr std::size_t deepest_group = 30;  // and brackets in brackets

bool is_ascii_letter(std::uint32_t code);

/// What a letter of a pattern without regard to case matches. (ſ is a small s, and K is a k.)
void add_any_case(CharacterSet& set, std::uint32_t letter);

/// Reads a pattern from its begin on. What Oniguruma might read in another way is refused.
class PatternCharacters {
 protected:
  const std::string_view pattern;
  std::size_t at = 0, depth = 0;
  bool any_case = false;

  explicit PatternCharacters(std::string_view p) : pattern(p) {}

  bool left() const { return at < pattern.size(); }
  bool takes(std::string_view text) {
    if (!pattern.substr(at).starts_with(text)) return false;
    at += text.size();
    return true;
  }
  /// throws    TokenizerProblem that shows the pattern and the byte
  [[noreturn]] void refuse(std::string_view what) const;
  std::size_t well_formed_prefix() const;
  std::uint32_t next_code();
  /// \s, \p{L} and the like; nothing if a single character is escaped.
  std::optional<CharacterSet> escaped_set();
  /// The character that stands behind a \, such as \n, \u0041 or an escaped bracket.
  std::uint32_t escaped_code();
  /// What stands behind a [, up to its ].
  CharacterSet set_in_brackets();

 private:
  CharacterSet category();
  std::uint32_t hexadecimal(std::size_t from, std::size_t digits, std::size_t after);
  std::optional<CharacterSet> escaped_or_none();
  /// A - behind what is no single character must be the last.
  void no_range() const;
  void add_range(CharacterSet& set);
  std::uint32_t bracket_code();
};

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// What normalising does with single characters, and Unicode's normal forms (UAX 15).
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/tokenizer/unicode_traits.hpp"

namespace sinter::detail {

/// The tables that scripts/unicode_normal.py has written, made ready to look up any code point.
class UnicodeTables {
  enum Shapes : std::uint8_t {
    decomposes = 1,
    composed = 2,
    joins = 4,
    capital = 8,
    compatible = 16,        // NFKD is not NFD
    joins_compatible = 32,  // its NFKD may hang on what is before it
  };

  std::vector<std::uint8_t> traits, classes, shapes;  // of each code point
  std::vector<std::uint32_t> decomposition_list, compatible_list, small_letter_list;
  std::unordered_map<std::uint32_t, std::span<const std::uint32_t>> decompositions, compatibles,
      small_letters;
  std::unordered_map<std::uint64_t, std::uint32_t> compositions;

  UnicodeTables();
  void add_hangul();

 public:
  static const UnicodeTables& get();

  bool has(std::uint32_t code, unicode::Traits trait) const { return traits[code] & trait; }
  std::uint8_t combining_class(std::uint32_t code) const { return classes[code]; }
  /// Appends the full decomposition, which may be the character itself.
  void decompose(std::uint32_t code, bool compatibly, std::u32string& to) const;
  /// The character that two make; 0 if they make none.
  std::uint32_t composition(std::uint32_t first, std::uint32_t second) const;
  /// The small letter of a capital, which may be several characters; empty for others.
  std::span<const std::uint32_t> small_letter(std::uint32_t code) const;
  /// Whether the character's normal form may hang on those before it.
  bool joins_before(std::uint32_t code, bool compatibly) const {
    return shapes[code] & (compatibly ? joins | joins_compatible : joins);
  }
  /// Whether a normal form of the character alone is not itself.
  bool changes(std::uint32_t code, bool compose, bool compatibly) const {
    if (compatibly && (shapes[code] & compatible)) return true;
    return (shapes[code] & decomposes) && !(compose && (shapes[code] & composed));
  }
};

/// The form NFC of a text with `compose`, else NFD; `compatibly` NFKC and NFKD. Bytes that are no UTF-8
/// stay as they are.
std::string normal_form(std::string_view text, bool compose, bool compatibly = false);

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Unicode's general categories, as the patterns of tokenizers have them.
#pragma once
#include <cstdint>

namespace sinter::detail {

/// A value of character_categories(): the number of a general category, and traits.
/// scripts/unicode_categories.py writes these numbers.
enum CategoryBits : std::uint8_t {
  category = 31,        // 1 + the place in unicode::category_names, or 0 for Cn
  pattern_word = 32,    // \w of a pattern
  word_neighbour = 64,  // beside it a token with single_word is not found
  digit = 128,          // Digits cuts it off
};

/// The value of each code point.
const std::uint8_t* character_categories();

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace sinter::detail::unicode {

/// What the normaliser and the pre-tokenizer of BERT do with a character, and StripAccents.
/// scripts/unicode_normal.py writes these numbers.
enum Traits : std::uint8_t {
  removed = 1,       // clean_text takes it out
  chinese = 2,       // handle_chinese_chars puts blanks around it
  mark = 4,          // strip_accents takes it out, once the text is decomposed
  combining = 8,     // StripAccents takes it out
  punctuation = 16,  // it is a word of its own
};

}  // namespace sinter::detail::unicode

// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/categories.hpp"

#include <algorithm>
#include <vector>

#include "data/tokenizer/unicode_categories.hpp"
#include "data/tokenizer/unicode_text.hpp"

namespace sinter::detail {

const std::uint8_t* character_categories() {
  static const std::vector<std::uint8_t> values = [] {
    std::vector<std::uint8_t> all(0x110000);
    for (const auto& [first, last, value] : unicode::ranges_in(unicode::categories))
      std::fill(all.begin() + first, all.begin() + last + 1, value);
    return all;
  }();
  return values.data();
}

}  // namespace sinter::detail

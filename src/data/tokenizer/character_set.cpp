// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/character_set.hpp"

#include <array>

#include "data/tokenizer/categories.hpp"
#include "data/tokenizer/unicode_categories.hpp"

namespace sinter::detail {
namespace {

constexpr std::uint32_t code_point_end = 0x110000;

/// The numbers of the categories with a name, or whose names begin with it.
std::array<bool, 32> categories_of(std::string_view name) {
  std::array<bool, 32> chosen{};
  const std::string_view names = unicode::category_names;
  chosen[0] = name == "C" || name == "Cn";
  for (std::size_t k = 0; 3 * k < names.size(); ++k)
    chosen[k + 1] = names.substr(3 * k, 2).starts_with(name);
  return chosen;
}

}  // namespace

CharacterSet::CharacterSet(const std::function<bool(std::uint32_t)>& holds) {
  for (std::uint32_t code = 0; code < code_point_end; ++code)
    if (holds(code)) set(code);
}

void CharacterSet::add(std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t code = first; code <= last; ++code) set(code);
}

void CharacterSet::add(const CharacterSet& other) {
  for (std::size_t k = 0; k < bits.size(); ++k) bits[k] |= other.bits[k];
}

void CharacterSet::negate() {
  for (std::uint64_t& word : bits) word = ~word;
}

CharacterSet escape_set(char letter) {
  const std::uint8_t* const categories = character_categories();
  if (letter == 'd') return *category_set("Nd");
  if (letter == 'w')
    return CharacterSet([&](std::uint32_t code) { return categories[code] & pattern_word; });
  const CharacterKind* const kinds = character_kinds();
  return CharacterSet([&](std::uint32_t code) { return kinds[code] == CharacterKind::space; });
}

std::optional<CharacterSet> category_set(std::string_view name) {
  if (name.empty() || name.size() > 2) return {};
  const std::array<bool, 32> chosen = categories_of(name);
  bool any = false;
  for (const bool one : chosen) any = any || one;
  if (!any) return {};
  const std::uint8_t* const categories = character_categories();
  return CharacterSet([&](std::uint32_t code) { return chosen[categories[code] & category]; });
}

}  // namespace sinter::detail

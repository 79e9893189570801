// SPDX-License-Identifier: Apache-2.0
// Sets of characters, as patterns have them.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "data/tokenizer/characters.hpp"

namespace sinter::detail {

/// Any code points, and whether a byte that is no UTF-8 is in it, too.
class CharacterSet {
  static constexpr std::uint32_t ill_formed_bit = 0x110000;
  std::vector<std::uint64_t> bits = std::vector<std::uint64_t>(ill_formed_bit / 64 + 1);

  void set(std::uint32_t code) { bits[code / 64] |= std::uint64_t(1) << code % 64; }

 public:
  CharacterSet() = default;
  /// The code points for which `holds` is true.
  explicit CharacterSet(const std::function<bool(std::uint32_t)>& holds);

  bool has(std::uint32_t code) const {
    const std::uint32_t bit = code == ill_formed ? ill_formed_bit : code;
    return bits[bit / 64] >> bit % 64 & 1;
  }
  void add(std::uint32_t first, std::uint32_t last);
  void add(const CharacterSet& other);
  /// Makes it what it was not.
  void negate();
};

/// White space, digits (Nd) or characters of words, as \s, \d and \w.
CharacterSet escape_set(char letter);

/// Those of a general category such as Lu, or of all that begin with a letter such as L; nothing if
/// there is no category of the name.
std::optional<CharacterSet> category_set(std::string_view name);

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Reads the tables that scripts/unicode_kinds.py and scripts/unicode_normal.py write.
//
// A table is a text of hexadecimal numbers, with one blank or end of a line between two. The first
// number of an entry is a distance to the entry before, so that most numbers are short.
#pragma once
#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sinter::detail::unicode {

/// Characters first … last have the same value.
struct Range {
  std::uint32_t first, last;
  std::uint8_t value;
};

/// Two characters and the one that they compose.
struct Composition {
  std::uint32_t first, second, composed;
};

class Numbers {
  const char *at_, *end_;
  bool joined_ = false;

 public:
  explicit Numbers(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  bool left() const { return at_ != end_; }
  std::uint32_t next() {
    std::uint32_t number = 0;
    at_ = std::from_chars(at_, end_, number, 16).ptr;
    joined_ = left() && *at_ == '+';
    if (left()) ++at_;
    return number;
  }
  /// Whether a + joins the next number to the one that next() has returned.
  bool joined() const { return joined_; }
};

/// An entry has a distance from the range before, how far its last character is, and a value.
inline std::vector<Range> ranges_in(std::string_view table) {
  std::vector<Range> ranges;
  std::uint32_t at = 0;
  for (Numbers numbers(table); numbers.left();) {
    const std::uint32_t first = at + numbers.next();
    at = first + numbers.next();
    ranges.push_back({first, at, std::uint8_t(numbers.next())});
  }
  return ranges;
}

/// An entry has a distance from the character before, and the characters that it becomes, joined
/// by +. The list has the character, how many it becomes, and these.
inline std::vector<std::uint32_t> texts_in(std::string_view table) {
  std::vector<std::uint32_t> list;
  std::uint32_t code = 0;
  for (Numbers numbers(table); numbers.left();) {
    list.push_back(code += numbers.next());
    const std::size_t count = list.size();
    list.push_back(0);
    do {
      list.push_back(numbers.next());
      ++list[count];
    } while (numbers.joined());
  }
  return list;
}

/// An entry has a distance from the first character of the one before, the second character, and
/// what they compose.
inline std::vector<Composition> compositions_in(std::string_view table) {
  std::vector<Composition> compositions;
  std::uint32_t first = 0;
  for (Numbers numbers(table); numbers.left();) {
    first += numbers.next();
    const std::uint32_t second = numbers.next();
    compositions.push_back({first, second, numbers.next()});
  }
  return compositions;
}

}  // namespace sinter::detail::unicode

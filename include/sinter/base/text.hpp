// SPDX-License-Identifier: Apache-2.0
// Texts in constant expressions: one that is part of a type, and one that grows.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace sinter::detail {

/// A text that is part of a type: words for a compile error to show, or a name or pattern that a
/// recipe gives, as in Freeze<"wte">. N counts the zero at the end, too: clang 19 shows a text only
/// if it ends with one zero, written as such, and cuts a longer one after 34 characters.
template <std::size_t N>
struct Text {
  char text[N]{};  ///< ends with a zero
  /// Copies N - 1 characters.
  constexpr explicit Text(std::string_view words) {
    *std::copy(words.begin(), words.end(), text) = 0;
  }
  /// Converts a literal, with its zero.
  constexpr Text(const char (&words)[N]) { std::copy_n(words, N, text); }
  /// The characters, without the zero.
  constexpr std::string_view view() const { return {text, N - 1}; }
};

/// A text that grows, such as a name. (g++ 12 does not copy strings in constant expressions.)
class TextBuilder {
  std::vector<char> letters;

 public:
  /// Appends a text, or a number in decimal digits.
  constexpr TextBuilder& operator+=(std::string_view more) {
    letters.reserve(letters.capacity() ? 0 : 64);
    for (char letter : more) letters.push_back(letter);
    return *this;
  }
  /// Appends a number in decimal digits.
  constexpr TextBuilder& operator+=(std::int64_t number) {
    if (number < 0) return (*this += "-") += -number;
    if (number >= 10) *this += number / 10;
    letters.push_back(char('0' + number % 10));
    return *this;
  }
  /// Keeps the first characters, no more than there are.
  constexpr void cut(std::size_t size) { letters.resize(size); }
  /// The text so far.
  constexpr std::string_view view() const { return {letters.data(), letters.size()}; }
};

}  // namespace sinter::detail

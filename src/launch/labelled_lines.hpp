// SPDX-License-Identifier: Apache-2.0
// Makes labelled lines of what a rank writes.
#pragma once
#include <string>
#include <string_view>
#include <utility>

namespace sinter::detail::launch {

/// Gives whole lines only, each with a label before it. Of a line that is written anew with '\r',
/// as progress is, it gives what stands there in the end. A line of more than `longest` bytes is
/// cut.
class LabelledLines {
  std::string label, line;
  bool returned = false;  // the next byte begins the line anew

  void put(std::string& to) {
    to += label;
    to += line;
    to += '\n';
    line.clear();
  }

 public:
  static constexpr std::size_t longest = 1 << 20;

  explicit LabelledLines(std::string before_each) : label(std::move(before_each)) {}

  /// Takes bytes, and appends the lines that end in them.
  void add(std::string_view bytes, std::string& to) {
    for (const char c : bytes) {
      if (c == '\n') {
        put(to);
      } else if (c != '\r') {
        if (returned) line.clear();
        if (line.size() == longest) put(to);
        line += c;
      }
      returned = c == '\r';
    }
  }
  /// Appends a last line that has no end.
  void end(std::string& to) {
    if (!line.empty()) put(to);
  }
};

}  // namespace sinter::detail::launch

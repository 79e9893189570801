// SPDX-License-Identifier: Apache-2.0
// Texts that end a generated text where they begin.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::detail::cli {

/// Cuts a text that arrives in pieces at the first of several texts. What may be the beginning of one
/// is held back.
class StopTexts {
 public:
  /// requires  no stop is empty
  explicit StopTexts(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  /// Adds a piece, and returns what can be shown by now.
  std::string add(std::string_view piece);
  /// The stop that was found; empty if none was.
  const std::string& found() const { return found_; }
  /// Returns what was held back, once no piece comes any more.
  std::string rest() { return std::exchange(held_, {}); }

 private:
  std::vector<std::string> stops_;
  std::string held_, found_;
};

}  // namespace sinter::detail::cli

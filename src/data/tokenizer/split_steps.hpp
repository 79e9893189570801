// SPDX-License-Identifier: Apache-2.0
// Cuts of a text by a pattern, one after the other: the pre-tokenizers Split, Digits and Punctuation.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "data/tokenizer/text_pattern.hpp"

namespace sinter::detail {

/// What becomes of a match: it is taken out, is a piece of its own, or belongs to its neighbour.
/// `contiguous` makes one piece of neighbouring matches.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

struct SplitStep {
  std::shared_ptr<const TextPattern> pattern;
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;  // what the pattern does not match counts as matched

  /// Appends the pieces of a text; none is empty.
  void cut(std::string_view text, std::vector<std::string_view>& pieces) const;
  /// Whether a text may be cut after a newline beside characters that are no white space.
  bool cuts_at_lines() const;
};

/// The pieces that all steps leave of a text.
std::vector<std::string_view> cut_by(const std::vector<SplitStep>& steps, std::string_view text);

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#include "data/tokenizer/split_steps.hpp"

#include <algorithm>
#include <utility>

namespace sinter::detail {
namespace {

struct Part {
  std::size_t begin, end;
  bool matched;
};

/// Joins each match to the part before it, unless that is a match.
std::vector<Part> joined_backwards(const std::vector<Part>& parts) {
  std::vector<Part> joined;
  bool after_match = false;
  for (const Part& part : parts) {
    if (part.matched && !after_match && !joined.empty())
      joined.back().end = part.end;
    else
      joined.push_back(part);
    after_match = part.matched;
  }
  return joined;
}

/// Joins each match to the part behind it, unless that is a match.
std::vector<Part> joined_forwards(const std::vector<Part>& parts) {
  std::vector<Part> joined;
  bool before_match = false;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (part->matched && !before_match && !joined.empty())
      joined.back().begin = part->begin;
    else
      joined.push_back(*part);
    before_match = part->matched;
  }
  std::ranges::reverse(joined);
  return joined;
}

std::vector<Part> joined_alike(const std::vector<Part>& parts) {
  std::vector<Part> joined;
  for (const Part& part : parts) {
    if (!joined.empty() && joined.back().matched == part.matched)
      joined.back().end = part.end;
    else
      joined.push_back(part);
  }
  return joined;
}

}  // namespace

void SplitStep::cut(std::string_view text, std::vector<std::string_view>& pieces) const {
  std::vector<Part> parts;
  pattern->cut(text, [&](std::size_t begin, std::size_t end, bool is_match) {
    parts.push_back({begin, end, is_match != invert});
  });
  using enum SplitBehavior;
  if (behavior == removed) std::erase_if(parts, [](const Part& part) { return part.matched; });
  if (behavior == merged_with_previous) parts = joined_backwards(parts);
  if (behavior == merged_with_next) parts = joined_forwards(parts);
  if (behavior == contiguous) parts = joined_alike(parts);
  for (const Part& part : parts)
    if (part.end > part.begin) pieces.push_back(text.substr(part.begin, part.end - part.begin));
}

bool SplitStep::cuts_at_lines() const {
  const bool apart = behavior == SplitBehavior::isolated || behavior == SplitBehavior::contiguous;
  return apart && !invert && pattern->is_one_visible_character();
}

std::vector<std::string_view> cut_by(const std::vector<SplitStep>& steps, std::string_view text) {
  std::vector<std::string_view> pieces{text};
  for (const SplitStep& step : steps) {
    std::vector<std::string_view> smaller;
    for (const std::string_view piece : pieces) step.cut(piece, smaller);
    pieces = std::move(smaller);
  }
  return pieces;
}

}  // namespace sinter::detail

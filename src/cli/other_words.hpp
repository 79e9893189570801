// SPDX-License-Identifier: Apache-2.0
// Words of other trainers' command lines, such as --learning-rate, and what stands for them here.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::detail::cli {

/// What other trainers call one thing.
struct OtherWord {
  std::string_view words;  // without dashes in front, with '_' for '-', a blank between two
  /// Flags and options, such as "--steps" or "optimizer.lr", a blank between two: the first that a
  /// verb can set is meant. Or the name of a slot, such as "precision". Or empty.
  std::string_view means;
  /// Of a slot: its policies. Of flags: why none is meant for certain; empty: the word is accepted
  /// in place of the flag. Else the answer.
  std::string_view says{};

  /// True if the word is accepted in place of a flag.
  constexpr bool is_flag() const { return says.empty(); }
};

std::span<const OtherWord> other_words();

/// Returns the row of a word as it was typed, such as "--learning-rate"; of a dotted one, the row of
/// its last part. nullptr if there is none.
const OtherWord* find_other_word(std::string_view typed);

/// Returns the parts of a text between blanks.
std::vector<std::string_view> split_words(std::string_view text);

/// Returns the spellings of a word as flags: "--max-steps", "--max_steps".
std::vector<std::string> spellings(std::string_view word);

/// Returns what follows the last dot of a flag, or what follows its dashes.
std::string_view last_part(std::string_view flag);

}  // namespace sinter::detail::cli

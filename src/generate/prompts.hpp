// SPDX-License-Identifier: Apache-2.0
// What a prompt says to those that continue it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sinter/data/prompt.hpp"
#include "sinter/trainer/recipe_view.hpp"

namespace sinter::detail {

/// Checks a prompt.
/// throws    ArgumentError if the model cannot continue it
void check_prompt(const PlanView& plan, const Prompt& prompt);

/// All tokens that end the text, each once.
std::vector<std::int32_t> ends_of(const Prompt& prompt);

/// How many of `count` tokens are written: all, or what a decoder has room for.
std::int64_t tokens_written(const PlanView& plan, const Prompt& prompt, std::int64_t count);

/// A row of a DecodingBatch, before it is extended.
struct ExtendedRow {
  int text;    ///< number of its text; rows of one are neighbours, and numbers ascend
  int kept;    ///< rows that are kept for the text
  int tokens;  ///< of the row
};
/// Checks what is given to DecodingBatch::extend().
/// throws    ArgumentError if parents are no rows, not ascending by text, or more than are kept for
///           one; if a decoder beside an encoder has no room; or if there are not as many tokens
void check_extension(const PlanView& plan, std::span<const ExtendedRow> rows,
                     std::span<const int> parents, std::span<const std::int32_t> tokens);

/// The text that goes on: the decoder's, if there is one.
inline const std::vector<std::int32_t>& continued(const Prompt& prompt) {
  return prompt.decoder.empty() ? prompt.tokens : prompt.decoder;
}

/// What an encoder reads; nothing for other models.
inline std::span<const std::int32_t> source_of(const Prompt& prompt) {
  if (prompt.decoder.empty()) return {};
  return prompt.tokens;
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
// Texts that a model continues together, whichever way it reads them.
#pragma once
#include <cstdint>
#include <span>

#include "sinter/data/prompt.hpp"

namespace sinter {

/// A batch of texts that a model continues token by token, and the logits of what follows each.
/// Rows are texts, or hypotheses of one; they have numbers from 0, without gaps.
class DecodingBatch {
 public:
  virtual ~DecodingBatch() = default;
  /// The most rows at once.
  virtual int max_rows() const = 0;
  /// Rows now.
  virtual int rows() const = 0;
  /// Adds a text as the last row, which may branch into up to `hypotheses` rows.
  /// throws    ArgumentError if the model cannot continue it, or rows + hypotheses kept for all
  ///           texts exceed max_rows()
  virtual void add(const Prompt& prompt, int hypotheses = 1) = 0;
  /// The logits of what follows a row, one for each token of the vocabulary. The caller may change
  /// them. Valid until the next add() or extend().
  virtual std::span<float> logits(int row) = 0;
  /// Replaces all rows: row i becomes the text of the former row parents[i], followed by tokens[i].
  /// A row that is no parent has ended. Rows of one text stay neighbours (parents are ascending by
  /// text).
  virtual void extend(std::span<const int> parents, std::span<const std::int32_t> tokens) = 0;
};

}  // namespace sinter

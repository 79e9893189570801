// SPDX-License-Identifier: Apache-2.0
// A batch of texts that are read anew for each token.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sinter/generate/decoding_batch.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter {

/// A DecodingBatch of any model that predicts what follows a text. It reads each whole text for each
/// token, all rows in one prediction, and keeps nothing between tokens. The model sees the last
/// `context` tokens of a text. The decoder's text of an encoder-decoder keeps its positions, so it
/// has `context` tokens at most.
class WholeTexts final : public DecodingBatch {
 public:
  /// requires  the trainer outlives this, and the model takes one token in each row
  /// throws    ArgumentError if max_rows is below 1
  explicit WholeTexts(TrainerCore& trainer, int max_rows = 8);

  int max_rows() const override { return max_rows_; }
  int rows() const override { return int(rows_.size()); }
  void add(const Prompt& prompt, int hypotheses = 1) override;
  std::span<float> logits(int row) override;
  /// throws    ArgumentError if the decoder's text would have more than `context` tokens; if parents
  ///           are no rows, not ascending by text, or more than was kept for a text
  void extend(std::span<const int> parents, std::span<const std::int32_t> tokens) override;

 private:
  struct Row {
    int prompt;                        // index in prompts_
    std::vector<std::int32_t> tokens;  // the whole text
    std::vector<float> logits{};       // empty until it is read
  };
  struct Added {
    std::vector<std::int32_t> source;  // what an encoder reads; else empty
    int kept = 0;                      // rows that are kept for it
  };

  /// Predicts for all rows that have no logits yet.
  void read();
  void check_extension(std::span<const int> parents, std::span<const std::int32_t> tokens) const;

  TrainerCore& trainer_;
  const int max_rows_;
  std::vector<Row> rows_;
  std::vector<Added> prompts_;  // in the order of their rows
};

}  // namespace sinter

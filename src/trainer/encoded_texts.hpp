// SPDX-License-Identifier: Apache-2.0
// What the encoder makes of an evaluation's texts, kept for the replies to them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sinter/run/machine.hpp"
#include "sinter/trainer/core.hpp"

namespace sinter::detail {

/// Keeps the rows of encoded_value() that the loss of each batch takes anyway, so that no encoder reads
/// the texts again when replies are written.
class EncodedTexts final : public Observer {
 public:
  /// The most bytes that are taken. Texts behind them are encoded again.
  static constexpr std::int64_t most_bytes = std::int64_t(64) << 20;

  /// True if the encoder gives the same where the loss is computed and where replies are written. The
  /// recipe then plans a generator with the same encoder, products take their inputs as they are, and
  /// nothing is padded. One rank has all of each batch, on the host.
  static bool are_known(const RecipeView& recipe);
  /// The most bytes that are taken at once while an evaluation by this recipe writes replies.
  static std::int64_t bytes_of(const RecipeView& recipe);
  /// requires  are_known(), and nobody else observes the trainer
  explicit EncodedTexts(TrainerCore& trainer, std::int64_t most = most_bytes);

  /// Returns TrainerCore::evaluate(), and keeps the rows of this batch in place of those before.
  Loss evaluate(const HostBatch& batch);
  /// The rows of a sequence of this batch; nothing if more than `most` bytes would be taken.
  std::vector<std::byte> take(const HostBatch& batch, int sequence);

 private:
  void before(const Machine&, int, int) override {}
  void after(const Machine& machine, int position, int iteration) override;

  TrainerCore& trainer_;
  const std::int64_t most_;
  int position_ = -1;        // of the instruction that writes the value
  std::int64_t offset_ = 0;  // where it lies in the arena
  std::int64_t row_bytes_ = 0, taken_ = 0;
  std::vector<std::byte> rows_;  // of the batch
};

/// Bytes that this process takes, beside the plan, while evaluations write replies.
std::int64_t reply_bytes(const RecipeView& recipe);

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/batching/packed.hpp"

namespace sinter {

/// Batches of random examples. Each is padded to the longest of its micro-batch, rounded up to a
/// multiple of 8, as in most trainers (Hugging Face's DataCollatorWithPadding, pad_to_multiple_of =
/// 8), on both axes if it has rows on two. Padding is computed but predicts nothing, so the loss
/// equals that of Packed. It is for comparisons: on a CPU it only costs time.
struct Padded {
  using slot = slot::batching;
  static constexpr bool pads = true;  ///< see Batching::pads
  using rules = RuleList<detail::DataHaveExamples>;
  /// Returns the batching for global batches of at most `sequences` sequences.
  static Batching batching(int /*sequences*/) { return {.pads = pads}; }
};

}  // namespace sinter

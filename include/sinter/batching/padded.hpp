// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "sinter/batching/packed.hpp"

namespace sinter {

/// Batches of random examples, each of which is padded to the longest of its micro-batch, and that
/// to a multiple of 8, as most trainers do: Hugging Face's DataCollatorWithPadding with
/// pad_to_multiple_of = 8. Padding is computed but predicts nothing, so the loss is that of Packed.
/// It is for comparisons: on a CPU it costs time and gives nothing.
struct Padded {
  using slot = slot::batching;
  static constexpr bool pads = true;  ///< see Batching::pads
  using rules = RuleList<DataHaveExamples>;
  /// Says it for global batches of at most so many sequences.
  static Batching batching(int /*sequences*/) { return {.pads = pads}; }
};

}  // namespace sinter

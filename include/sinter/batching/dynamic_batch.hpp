// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sinter/batching/packed.hpp"
#include "sinter/error.hpp"

namespace sinter {

/// The maximum number of examples of a dynamic batch.
enum class DynamicMode : std::uint8_t {
  full,      // as many as the budget allows, up to the whole buffer of 1,021
  batchsort  // the batch option `global`
};
/// The name of a mode in flags and files.
constexpr std::string_view name_of(DynamicMode mode) {
  return mode == DynamicMode::full ? "full" : "batchsort";
}

struct DynamicBatchOptions {
  DynamicMode mode = DynamicMode::full;  ///< limit of the number of examples, beside the budget
  int tokens = 32768;                    ///< the budget: maximum cost of a batch, padding included
  SINTER_FIELDS((mode), (tokens).at_least(1).adjustable())
};

namespace detail {
/// The number of examples in the buffer from which a dynamic batch is chosen, and its maximum size.
inline constexpr int dynamic_buffer = 1021;

/// Arranges an epoch like ParlAI's DynamicBatchWorld (parlai/core/worlds.py). A buffer holds the
/// next 1,021 examples of the shuffled epoch, sorted by (context, label), each length rounded up to
/// a multiple of 8, equal ones in random order. A batch starts at a random example, moved to the
/// last neighbour with an equal sum. It adds the next shorter examples (if none are left, longer
/// ones) while it has at most `most` examples and costs at most `tokens`. The cost is the number of
/// examples times the largest sum. A batch of more than 4 is cut to a multiple of 4. An example
/// that costs more than the budget is a batch of its own.
///
/// Within a batch, the example with the most rows comes first. Neighbours, which are computed and
/// padded together, thus have similar lengths. Pairs are sorted by both lengths (Batching::arrange).
///
/// ParlAI fills its buffer from 1,021 walks through dialogues in order, so its batches are drawn
/// from other examples; the choice from the buffer is the same.
/// requires  lengths are not empty, tokens >= 1 and most >= 1
Arrangement batch_dynamically(std::span<const ExampleLength> lengths, int tokens, int most,
                              std::uint64_t key);

template <DynamicBatchOptions O>
SINTER_RULE(
    BufferFitsTheBatch, O.mode != DynamicMode::full || R::batch::options.global >= dynamic_buffer,
    "DynamicBatch: global is smaller than the buffer. Why: the mode full puts up to 1,021 examples "
    "into a batch, and a step takes at most `global` sequences. Fix: Batch<{.global = 1024, .micro "
    "= …}>, or .mode = DynamicMode::batchsort, whose batches have at most `global`.");
}  // namespace detail

/// ParlAI's dynamic batching: batches of examples of similar length, as many as fit into a budget
/// of tokens. Examples of a micro-batch are padded to its longest; ParlAI, without micro-batches,
/// pads the whole batch. ParlAI's budget is its batch size × (text truncation + label truncation);
/// the default is 64 × (256 + 256). With `batchsort`, the batch option `global` is ParlAI's batch
/// size. A run cannot be resumed with other options in the middle of an epoch.
template <DynamicBatchOptions O = {}>
struct DynamicBatch {
  using slot = slot::batching;
  static constexpr bool pads = true;  ///< see Batching::pads
  using Options = DynamicBatchOptions;
  using rules = RuleList<detail::DataHaveExamples, detail::BufferFitsTheBatch<O>>;
  static constexpr Options options = O;
  /// Returns the batching for global batches of at most `sequences` sequences.
  /// throws    ArgumentError if the mode is full and `sequences` is below the buffer's size
  static Batching batching(const Options& o, int sequences) {
    if (o.mode == DynamicMode::full && sequences < detail::dynamic_buffer)
      throw ArgumentError("batch.global is " + std::to_string(sequences) +
                          ", and dynamic batches of the mode full may have 1021 examples. Make it "
                          "1024, or take the mode batchsort.");
    const int most = o.mode == DynamicMode::full ? detail::dynamic_buffer : sequences;
    return {", in dynamic batches of " + std::to_string(o.tokens) + " tokens and up to " +
                std::to_string(most) + " examples",
            pads,
            [tokens = o.tokens, most](std::span<const ExampleLength> lengths, std::uint64_t key) {
              return detail::batch_dynamically(lengths, tokens, most, key);
            }};
  }
};

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sinter/batching/packed.hpp"
#include "sinter/error.hpp"

namespace sinter {

/// How many examples a dynamic batch may have.
enum class DynamicMode : std::uint8_t {
  full,      // as many as the budget allows, up to the whole buffer of 1,021
  batchsort  // as many as the batch option `global`
};
/// The name of a mode, as flags and files have it.
constexpr std::string_view name_of(DynamicMode mode) {
  return mode == DynamicMode::full ? "full" : "batchsort";
}

struct DynamicBatchOptions {
  DynamicMode mode = DynamicMode::full;  ///< what bounds the number of examples beside the budget
  int tokens = 32768;  ///< the budget: the cost of a batch at most, padding included
  SINTER_FIELDS((mode), (tokens).at_least(1).adjustable())
};

/// The examples among which a dynamic batch is chosen, and the most that it has.
inline constexpr int dynamic_buffer = 1021;

/// Arranges an epoch as ParlAI's DynamicBatchWorld (parlai/core/worlds.py). A buffer holds the next
/// 1,021 examples of the shuffled epoch, sorted by (context, label), each a multiple of 8, with
/// equal ones in random order. A batch begins at a random place of it, moved on to the last
/// neighbour with an equal sum, and takes on the next shorter ones (when there are none left,
/// longer ones) as long as it has at most `most` examples and costs at most `tokens`, where the
/// cost is their number times the largest sum. Of more than 4 it keeps a multiple of 4, without the
/// last ones. An example that costs more than the budget is a batch of its own.
///
/// Within a batch, the example with the most rows comes first, so that neighbours, which are
/// computed and padded together, are about as long as each other.
///
/// There the buffer is filled from 1,021 walks through dialogues in their order, so that what is in
/// a batch is drawn differently; how it is chosen from the buffer is the same.
/// requires  lengths are not empty, tokens >= 1 and most >= 1
Arrangement batch_dynamically(std::span<const ExampleLength> lengths, int tokens, int most,
                              std::uint64_t key);

/// A rule: a step takes all examples of the buffer, if the mode may put them into one batch.
template <DynamicBatchOptions O>
struct BufferFitsTheBatch {
  template <class R>
  static constexpr bool holds =
      O.mode != DynamicMode::full || R::batch::options.global >= dynamic_buffer;
  template <class R>
  static auto enforce() {
    static_assert(holds<R>,
                  "DynamicBatch: global is smaller than the buffer. Why: the mode full puts up to "
                  "1,021 examples into a batch, and a step takes at most `global` sequences. Fix: "
                  "Batch<{.global = 1024, .micro = …}>, or .mode = DynamicMode::batchsort, whose "
                  "batches have at most `global`.");
  }
};

/// Dynamic batching of ParlAI: batches of examples of about the same length, as many as fit into a
/// budget of tokens. The examples of a micro-batch, which are neighbours by length, are padded to
/// the longest of it; ParlAI, without micro-batches, pads all of the batch. ParlAI's budget is its
/// batch size × (text truncation + label truncation); the default is that of 64 and 256 + 256. With
/// `batchsort` the batch option `global` is ParlAI's batch size. A run may not be resumed with other
/// options in the middle of an epoch.
template <DynamicBatchOptions O = {}>
struct DynamicBatch {
  using slot = slot::batching;
  static constexpr bool pads = true;  ///< see Batching::pads
  using Options = DynamicBatchOptions;
  using rules = RuleList<DataHaveExamples, BufferFitsTheBatch<O>>;
  static constexpr Options options = O;
  /// Says it for global batches of at most so many sequences.
  /// throws    ArgumentError if the mode is full and they are fewer than the buffer holds
  static Batching batching(const Options& o, int sequences) {
    if (o.mode == DynamicMode::full && sequences < dynamic_buffer)
      throw ArgumentError("Sinter: batch.global is " + std::to_string(sequences) +
                          ", and dynamic batches of the mode full may have 1021 examples. Make it "
                          "1024, or take the mode batchsort.");
    const int most = o.mode == DynamicMode::full ? dynamic_buffer : sequences;
    return {", in dynamic batches of " + std::to_string(o.tokens) + " tokens and up to " +
                std::to_string(most) + " examples",
            pads,
            [tokens = o.tokens, most](std::span<const ExampleLength> lengths, std::uint64_t key) {
              return batch_dynamically(lengths, tokens, most, key);
            }};
  }
};

}  // namespace sinter

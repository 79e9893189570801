// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sinter/batching/packed.hpp"

namespace sinter {

/// Groups an epoch by length, as Hugging Face's get_length_grouped_indices: the examples are
/// shuffled and cut into megabatches of min(N / (4 · sequences), 50) · sequences of them, at least
/// one batch; each megabatch is sorted by length, the longest first; and the longest example of all
/// changes places with the first of the epoch.
/// requires  lengths are not empty and sequences >= 1
Arrangement group_by_length(std::span<const ExampleLength> lengths, int sequences,
                            std::uint64_t key);

/// Batches of examples of about the same length, padded to the longest of a micro-batch, as Hugging
/// Face's group_by_length. The longest comes in the first step of an epoch, so that what would run
/// out of memory does so at once. Lengths are rows: context and label together. The last batch of an
/// epoch may be smaller. A run may not be resumed with another global batch in the middle of an
/// epoch.
struct LengthGrouped {
  using slot = slot::batching;
  static constexpr bool pads = true;  ///< see Batching::pads
  using rules = RuleList<DataHaveExamples>;
  /// Says it for global batches of at most so many sequences.
  static Batching batching(int sequences) {
    return {", grouped by length for batches of " + std::to_string(sequences), pads,
            [sequences](std::span<const ExampleLength> lengths, std::uint64_t key) {
              return group_by_length(lengths, sequences, key);
            }};
  }
};

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sinter/batching/packed.hpp"

namespace sinter {

namespace detail {
/// Groups an epoch by length, like Hugging Face's get_length_grouped_indices. Examples are shuffled
/// and cut into megabatches of min(N / (4 · sequences), 50) · sequences, at least one batch each.
/// Each megabatch is sorted by length, longest first. Then the longest example of all and the first
/// of the epoch change places.
/// requires  lengths are not empty and sequences >= 1
Arrangement group_by_length(std::span<const ExampleLength> lengths, int sequences,
                            std::uint64_t key);
}  // namespace detail

/// Batches of examples of similar length, padded to the longest of a micro-batch, like Hugging
/// Face's group_by_length. The longest example comes in the first step of an epoch, so a run that
/// would exhaust memory fails at once. Lengths are rows: context plus label. The last batch of an
/// epoch may be smaller. A run cannot be resumed with another global batch in the middle of an
/// epoch.
struct LengthGrouped {
  using slot = slot::batching;
  static constexpr bool pads = true;  ///< see Batching::pads
  using rules = RuleList<detail::DataHaveExamples>;
  /// Returns the batching for global batches of at most `sequences` sequences.
  static Batching batching(int sequences) {
    return {", grouped by length for batches of " + std::to_string(sequences), pads,
            [sequences](std::span<const ExampleLength> lengths, std::uint64_t key) {
              return detail::group_by_length(lengths, sequences, key);
            }};
  }
};

}  // namespace sinter

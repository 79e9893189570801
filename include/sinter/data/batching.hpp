// SPDX-License-Identifier: Apache-2.0
// The result of a batching policy: how the examples of an epoch are grouped in batches.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sinter {

/// The number of rows of an example.
struct ExampleLength {
  std::int32_t context = 0;  ///< rows that predict nothing
  std::int32_t label = 0;    ///< rows that each predict a token, at least 1

  /// Rows of context and label together.
  int rows() const { return context + label; }
};

namespace detail {
/// The examples of one epoch, arranged in batches.
struct Arrangement {
  std::vector<std::uint32_t> order;  ///< numbers of examples, each of them once
  std::vector<std::uint32_t> ends;   ///< the ends of batches in `order`, ascending; not empty
};
}  // namespace detail

/// How examples become batches. By default, in the order of the epoch and without padding.
struct Batching {
  /// Suffix for the name of the source's order (SamplerState::order); begins with a comma. It names
  /// everything that `arrange` depends on beside the data, the seed and the epoch.
  std::string order{};
  /// True if each sequence of a batch is padded to the longest one, rounded up to a multiple of 8.
  /// If examples have rows on axis 1, too, both axes are padded, each to its own longest sequence.
  bool pads = false;
  /// Arranges the examples of an epoch into batches. Depends on nothing but their lengths and the
  /// epoch's key (Permutation::epoch_key). Without this function, a Permutation orders the
  /// examples, and examples of the next epoch fill the last batch. Of examples with rows on axis 1,
  /// each batch is then sorted by context and label, the longest first.
  std::function<detail::Arrangement(std::span<const ExampleLength> lengths, std::uint64_t key)>
      arrange{};
  /// Number of neighbours in a batch that are padded to the longest of them: the sequences computed
  /// at once, a micro-batch. 0: the whole batch.
  int padded_together = 0;
};

namespace detail {
/// The next multiple of 8, to which lengths are padded.
constexpr int padded_to_8(int length) { return (length + 7) / 8 * 8; }
}  // namespace detail

}  // namespace sinter

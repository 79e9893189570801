// SPDX-License-Identifier: Apache-2.0
// What a batching policy says: which examples of an epoch stand together in a batch.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sinter {

/// How many rows an example takes.
struct ExampleLength {
  std::int32_t context = 0;  ///< rows that predict nothing
  std::int32_t label = 0;    ///< rows that each predict a token, at least 1

  /// Of both together.
  int rows() const { return context + label; }
};

/// The examples of one epoch, put into batches.
struct Arrangement {
  std::vector<std::uint32_t> order;  ///< numbers of examples: each of them once
  std::vector<std::uint32_t> ends;   ///< where in `order` each batch ends, ascending; not empty
};

/// How examples become batches. As it is made here, it takes them in the order of the epoch, and
/// adds no row to them.
struct Batching {
  /// Added to the name of the source's order (SamplerState::order); begins with a comma. It names
  /// all that `arrange` depends on beside the data, the seed and the epoch.
  std::string order{};
  /// Whether each sequence of a batch is padded to the longest of it, and that to a multiple of 8;
  /// on axis 0 alone, where examples have rows on axis 1, too.
  bool pads = false;
  /// Arranges an epoch. It is a pure function of the lengths and of the epoch's key
  /// (Permutation::epoch_key). If it is empty, the order is a Permutation, and batches that an
  /// epoch's end cuts short are filled up from the next epoch.
  std::function<Arrangement(std::span<const ExampleLength> lengths, std::uint64_t key)> arrange{};
  /// How many neighbours in a batch are padded to one length, the longest of these: as many as are
  /// computed at once, a micro-batch. 0: all of the batch.
  int padded_together = 0;
};

/// The next multiple of 8, which is what lengths are padded to.
constexpr int padded_to_8(int length) { return (length + 7) / 8 * 8; }

}  // namespace sinter

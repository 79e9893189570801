// SPDX-License-Identifier: Apache-2.0
// How large batches are, where that changes in the course of training.
#pragma once
#include <cstdint>
#include <functional>

namespace sinter {

/// How large a global batch is.
struct BatchShape {
  int sequences;  ///< in the batch: windows, or rows of an array
  /// Rows to which each sequence is cut; where examples have rows on axis 1, too, those on axis 0,
  /// and the others in the same proportion.
  int length;
  bool operator==(const BatchShape&) const = default;
};

/// Gives the shape of the next global batch from the number of sequences before it. The function is
/// pure, so that shapes are known ahead, and the same after a resume. If it is empty, all batches
/// are alike.
/// ensures   1 <= sequences <= the global batch, 1 <= length <= the context
using BatchShapes = std::function<BatchShape(std::uint64_t sequences)>;

/// The sizes of batches that a recipe and its options allow.
struct BatchLimits {
  int sequences;  ///< at most: the global batch, which is a multiple of `unit`
  int length;     ///< at most: the context
  int unit;       ///< micro × ranks
};

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// The size of batches, if it changes in the course of training.
#pragma once
#include <cstdint>
#include <functional>

namespace sinter {

/// The size of a global batch.
struct BatchShape {
  int sequences;  ///< windows, or rows of an array
  /// Rows to which each sequence is cut. If examples have rows on axis 1, too, this is for axis 0,
  /// and axis 1 is cut in the same proportion.
  int length;
  bool operator==(const BatchShape&) const = default;
};

namespace detail {
/// Returns the shape of the next global batch, given the number of sequences before it. The
/// function is pure, so that shapes are known ahead, and equal after a resume. If empty, all
/// batches have the same shape.
/// ensures   1 <= sequences <= the global batch, 1 <= length <= the context
using BatchShapes = std::function<BatchShape(std::uint64_t sequences)>;
}  // namespace detail

/// The sizes of batches that a recipe and its options allow.
struct BatchLimits {
  int sequences;  ///< maximum: the global batch, which is a multiple of `unit`
  int length;     ///< maximum: the context
  int unit;       ///< micro × ranks
};

}  // namespace sinter

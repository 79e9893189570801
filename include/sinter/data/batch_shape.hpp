// How large batches are, where that changes in the course of training.
#pragma once
#include <cstdint>
#include <functional>

namespace sinter {

/// A global batch: so many sequences (windows, rows), each cut to `length` rows.
struct BatchShape {
  int sequences, length;
  bool operator==(const BatchShape&) const = default;
};

/// The shape of the next global batch, after so many sequences since the first: a pure function, so
/// that it is known ahead, and the same after a resume. Empty: all batches are alike.
/// ensures   1 <= sequences <= the global batch, 1 <= length <= the context
using BatchShapes = std::function<BatchShape(std::uint64_t sequences)>;

/// What a recipe and its options allow. sequences: the global batch, and a multiple of `unit`,
/// which is micro × ranks; length: the context.
struct BatchLimits {
  int sequences, length, unit;
};

}  // namespace sinter

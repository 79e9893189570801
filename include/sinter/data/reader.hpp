// SPDX-License-Identifier: Apache-2.0
// Reads batches ahead in its own threads, so that a training step need not wait for data.
#pragma once
#include <memory>

#include "sinter/data/any_source.hpp"

namespace sinter {

/// Settings for reading ahead. They change neither the batches nor their order.
struct ReaderOptions {
  /// Maximum number of batches that are ready or being prepared, at least 1. More workers than this
  /// would be idle.
  int depth = 4;
  /// Number of threads, at least 0. With 0 nothing is read ahead: the thread that takes a batch
  /// prepares it. At most one thread reads a source that does not divide (DividedSource).
  int workers = 1;
  /// The part of each batch that is needed; a source that does not divide is read completely.
  BatchPart part{};
};

namespace detail {
/// throws    ArgumentError unless the options are in their ranges
void require_in_range(const ReaderOptions& options);

/// A data source that reads up to `depth` batches of another source ahead, in its own threads, and
/// gives them in the same order. Batches' memory is reused: a batch passed to next() comes back
/// filled later, so that reading allocates nothing once all batches have their size.
///
/// An exception of the source arrives at next(), after the batches that come before it, and again
/// at each later next() until restore(). The destructor waits at most for the batches that are
/// being prepared.
/// requires  one thread calls these functions, and nothing else touches the source
class BackgroundReader {
 public:
  /// Reads up to `depth` batches ahead, in one thread.
  explicit BackgroundReader(AnySource source, int depth = 4);
  /// Starts to read at once.
  /// throws    ArgumentError unless the options are in their ranges
  BackgroundReader(AnySource source, ReaderOptions options);
  BackgroundReader(const BackgroundReader&) = delete;
  BackgroundReader& operator=(const BackgroundReader&) = delete;
  ~BackgroundReader();

  /// Swaps `batch` for the next one. Returns false, and leaves an empty batch, at the source's end.
  bool next(HostBatch& batch);
  /// The source's state after the batch that next() gave last, not after those read ahead.
  SamplerState state() const;
  /// Drops what was read ahead and continues from `saved`.
  /// throws    what the source throws if it refuses `saved`; reading then continues after the batch
  ///           that was given last
  void restore(const SamplerState& saved);
  /// Total seconds that next() has waited for the source.
  double waited_seconds() const;

 private:
  struct Queue;
  std::unique_ptr<Queue> queue;
};
}  // namespace detail

}  // namespace sinter

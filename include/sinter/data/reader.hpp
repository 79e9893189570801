// SPDX-License-Identifier: Apache-2.0
// Reads batches ahead in its own threads, so that a training step need not wait for data.
#pragma once
#include <memory>
#include <utility>

#include "sinter/data/source.hpp"

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
}  // namespace detail

/// The threads and the bounded queue between a data source and the consumer of its batches.
/// Separate from BackgroundReader, which gives it the source, so that it is compiled once.
class ReadAhead {
 public:
  /// The source, as the threads see it.
  struct Origin {
    /// As detail::divides().
    virtual bool divides() const = 0;
    /// Draws the next batch, and makes it if the source does not divide. Returns false at the end.
    virtual bool begin(BatchDraw& draw, HostBatch& batch) = 0;
    /// Makes that part of the drawn batch; does nothing if the source does not divide.
    virtual void finish(BatchDraw& draw, HostBatch& batch, BatchPart part) const = 0;
    /// The source's state after the batch that was drawn last.
    virtual SamplerState state() const = 0;

   protected:
    ~Origin() = default;
  };

  /// Starts to read at once.
  /// throws    ArgumentError unless the options are in their ranges
  ReadAhead(Origin& origin, ReaderOptions options);
  ~ReadAhead();

  /// Implements BackgroundReader::next().
  bool next(HostBatch& batch);
  const SamplerState& state() const;  ///< Implements BackgroundReader::state().
  double waited_seconds() const;      ///< Implements BackgroundReader::waited_seconds().

  /// Stops the threads and drops what was read ahead.
  void stop();
  /// Starts to read from the origin's current state.
  void start();

 private:
  struct Queue;
  std::unique_ptr<Queue> queue;
};

namespace detail {
/// A data source that reads up to `depth` batches of another source ahead, in its own threads, and
/// gives them in the same order. Batches' memory is reused: a batch passed to next() comes back
/// filled later, so that reading allocates nothing once all batches have their size.
///
/// An exception of the source arrives at next(), after the batches that come before it, and again
/// at each later next() until restore(). The destructor waits at most for the batches that are
/// being prepared.
/// requires  one thread calls these functions, and nothing else touches the source
template <DataSource Source>
class BackgroundReader {
 public:
  /// Reads up to `depth` batches ahead, in one thread.
  explicit BackgroundReader(Source source, int depth = 4)
      : BackgroundReader(std::move(source), ReaderOptions{.depth = depth}) {}
  /// Starts to read at once.
  /// throws    ArgumentError unless the options are in their ranges
  BackgroundReader(Source source, ReaderOptions options)
      : origin(std::move(source)), ahead(origin, options) {}

  BackgroundReader(const BackgroundReader&) = delete;
  BackgroundReader& operator=(const BackgroundReader&) = delete;

  /// Swaps `batch` for the next one. Returns false, and leaves an empty batch, at the source's end.
  bool next(HostBatch& batch) { return ahead.next(batch); }

  /// The source's state after the batch that next() gave last, not after those read ahead.
  SamplerState state() const { return ahead.state(); }

  /// Drops what was read ahead and continues from `saved`.
  /// throws    what the source throws if it refuses `saved`; reading then continues after the batch
  ///           that was given last
  void restore(const SamplerState& saved) {
    const SamplerState before = ahead.state();
    ahead.stop();
    try {
      origin.source.restore(saved);
    } catch (...) {
      origin.source.restore(before);
      ahead.start();
      throw;
    }
    ahead.start();
  }

  /// Total seconds that next() has waited for the source.
  double waited_seconds() const { return ahead.waited_seconds(); }

 private:
  struct Filling final : ReadAhead::Origin {
    Source source;
    explicit Filling(Source s) : source(std::move(s)) {}
    bool divides() const override { return detail::divides(source); }
    bool begin(BatchDraw& draw, HostBatch& batch) override {
      if constexpr (DividedSource<Source>)
        if (divides()) return source.draw(draw);
      return pull(source, batch);
    }
    void finish([[maybe_unused]] BatchDraw& draw, [[maybe_unused]] HostBatch& batch,
                [[maybe_unused]] BatchPart part) const override {
      if constexpr (DividedSource<Source>)
        if (divides()) fill_part(source, draw, batch, part);
    }
    SamplerState state() const override { return source.state(); }
  };
  Filling origin;
  ReadAhead ahead;  // declared after the origin, so that its threads end first
};
}  // namespace detail

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
// Reads batches ahead in a thread of its own, so that a training step need not wait for data.
#pragma once
#include <memory>
#include <utility>

#include "sinter/data/source.hpp"

namespace sinter {

/// The thread and the bounded queue between a data source and whoever takes its batches. It is
/// apart from BackgroundReader, which gives it the source, so that it is compiled once.
class ReadAhead {
 public:
  /// What the thread asks of the source.
  struct Origin {
    virtual bool next(HostBatch& batch) = 0;
    virtual SamplerState state() const = 0;

   protected:
    ~Origin() = default;
  };

  /// Starts to read at once.
  /// throws    ArgumentError unless depth >= 1
  ReadAhead(Origin& origin, int depth);
  ~ReadAhead();

  /// See BackgroundReader; so for the next two.
  bool next(HostBatch& batch);
  const SamplerState& state() const;
  double waited_seconds() const;

  /// Ends the thread and drops what was read ahead.
  void stop();
  /// Starts to read from where the origin stands now.
  void start();

 private:
  struct Queue;
  std::unique_ptr<Queue> queue;
};

/// A data source that reads up to `depth` batches of another source ahead, in its own thread, and
/// hands them out in the same order. The memory of batches goes round: a batch that next() is given
/// comes back filled later, so that reading allocates nothing once all batches have their size.
///
/// An exception of the source arrives at next(), after the batches that were filled before it, and
/// again at each later next() until restore(). Destruction waits at most for the one next() of the
/// source that is under way.
/// requires  one thread calls these functions, and nothing else touches the source
template <DataSource Source>
class BackgroundReader {
 public:
  explicit BackgroundReader(Source source, int depth = 4)
      : origin(std::move(source)), ahead(origin, depth) {}

  BackgroundReader(const BackgroundReader&) = delete;
  BackgroundReader& operator=(const BackgroundReader&) = delete;

  /// Swaps `batch` for the next one. Returns false, and leaves an empty batch, when the source has
  /// ended.
  bool next(HostBatch& batch) { return ahead.next(batch); }

  /// The source's state after the batch that next() handed out last, not after those read ahead.
  SamplerState state() const { return ahead.state(); }

  /// Drops what was read ahead and continues from `saved`.
  /// throws    what the source throws if it refuses `saved`; reading then continues after the
  ///           batch that was handed out last
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

  /// Seconds that next() has spent waiting for the source, in all.
  double waited_seconds() const { return ahead.waited_seconds(); }

 private:
  struct Filling final : ReadAhead::Origin {
    Source source;
    explicit Filling(Source s) : source(std::move(s)) {}
    bool next(HostBatch& batch) override { return pull(source, batch); }
    SamplerState state() const override { return source.state(); }
  };
  Filling origin;
  ReadAhead ahead;  // declared after the origin, so that its thread ends first
};

}  // namespace sinter

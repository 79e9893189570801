// SPDX-License-Identifier: Apache-2.0
// Windows of a text, on which language models train and are evaluated.
//
// Window w of a text covers tokens w·context … w·context + context, both included: context + 1
// tokens. It shows the first `context` of them and predicts the last `context`. Neighbours overlap
// by one token, so that each token but the first is predicted once. The last window may be shorter.
// A batch has tokens in ids[0] and targets in ids[1]; each window is one sequence.
#pragma once
#include <cstdint>
#include <string>

#include "sinter/data/permutation.hpp"
#include "sinter/data/source.hpp"
#include "sinter/data/token_view.hpp"

namespace sinter {

/// How a text is cut. Both numbers are at least 1, and their product is below 2³¹.
struct WindowShape {
  int context;    ///< tokens that a window predicts
  int sequences;  ///< windows per batch
};

namespace detail {
/// Number of whole windows of `context` in a text of `tokens`: floor((tokens - 1) / context).
std::int64_t whole_windows(std::int64_t tokens, int context);
}  // namespace detail

// Sources for training may take a function with the size of each batch (BatchShapes, such as
// RecipeView::batch_shapes). A batch then has that number of windows, up to shape.sequences, and
// shows and predicts only the first `length` tokens of each.

/// Gives all windows in order, again and again. Batch s (from 0) of n sequences is windows s·n …
/// s·n+n-1. Windows that are short or do not fill a batch are dropped, and the walk restarts at
/// window 0.
class SequentialWindows {
 public:
  static constexpr bool never_ends = true;  ///< see detail::NeverEnds
  /// throws    ArgumentError, with both numbers, if the text has fewer than sequences · context + 1
  ///           tokens
  SequentialWindows(TokenView tokens, WindowShape shape, detail::BatchShapes shapes = {});

  bool next(HostBatch& batch);  ///< true, or false at the end that end_at() has set
  /// The state after the last batch (DataSource); restore() continues from one.
  SamplerState state() const { return now; }
  void restore(const SamplerState& saved);  ///< Goes on from a state that state() gave.
  /// Sets where the source ends (EndingSource). An epoch is the windows of whole batches.
  /// throws    ArgumentError if batches change their size
  std::string end_at(SourceEnd end);
  bool draw(BatchDraw& draw);  ///< next() without the content; see DividedSource
  /// Makes a drawn batch (DividedSource).
  void fill(const BatchDraw& draw, HostBatch& batch) const;

  /// Number of batches until the walk restarts, if all are whole.
  std::int64_t batches_per_epoch() const { return windows / shape.sequences; }

 private:
  TokenView tokens;
  WindowShape shape;
  detail::BatchShapes shapes;
  std::int64_t windows;
  SamplerState now;
  BatchDraw drawn;  // used by next()

  void restart_at_end();
};

/// Gives windows in an order that is drawn for each epoch, from only the seed and the epoch. An
/// epoch has a phase p, 0 <= p < context: its windows start p tokens into the text, so that the
/// borders between windows move from epoch to epoch. The p tokens before, and the rest of less than
/// a window after, are not predicted in that epoch, but in epochs with other phases. Each window
/// comes exactly once per epoch, and a batch at an epoch's end is filled up from the next.
/// Restoring needs no replay, and the order no memory.
class ShuffledWindows {
 public:
  static constexpr bool never_ends = true;  ///< see detail::NeverEnds
  /// throws    ArgumentError, with both numbers, if the text has fewer than context + 1 tokens
  ShuffledWindows(TokenView tokens, WindowShape shape, std::uint64_t seed,
                  detail::BatchShapes shapes = {});

  bool next(HostBatch& batch);  ///< true, or false at the end that end_at() has set
  /// The state after the last batch (DataSource).
  SamplerState state() const { return now; }
  /// Also restores the saved seed.
  void restore(const SamplerState& saved);
  /// Sets where the source ends (EndingSource), in windows.
  std::string end_at(SourceEnd end);
  bool draw(BatchDraw& draw);  ///< next() without the content; see DividedSource
  /// Makes a drawn batch (DividedSource).
  void fill(const BatchDraw& draw, HostBatch& batch) const;

  /// Number of tokens before the first window of the current epoch.
  std::int64_t phase() const { return epoch.first_token; }
  /// Number of windows of the current epoch.
  std::int64_t windows() const { return std::int64_t(epoch.order.size()); }

 private:
  struct Epoch {
    std::int64_t first_token;
    detail::Permutation order;
  };
  TokenView tokens;
  WindowShape shape;
  detail::BatchShapes shapes;
  SamplerState now;
  Epoch epoch;
  BatchDraw drawn;  // used by next()

  Epoch epoch_of(const SamplerState& state) const;
};

/// A finite source that gives every window once, in order, including the short last one: each token
/// but the first is predicted exactly once. restore() to a fresh state() starts again.
class EvaluationWindows {
 public:
  /// Batches have up to shape.sequences windows.
  /// throws    ArgumentError if the text has fewer than 2 tokens
  EvaluationWindows(TokenView tokens, WindowShape shape);

  bool next(HostBatch& batch);  ///< false, and an empty batch, after the last window
  /// The state after the last batch (DataSource); restore() continues from one.
  SamplerState state() const { return now; }
  void restore(const SamplerState& saved);  ///< Goes on from a state that state() gave.
  bool draw(BatchDraw& draw);               ///< false after the last window; see DividedSource
  /// Makes a drawn batch (DividedSource).
  void fill(const BatchDraw& draw, HostBatch& batch) const;
  /// Starts again at the first window.
  void restart() { now.position = now.items = 0; }

  std::int64_t predicted() const {
    return tokens.size() - 1;
  }  ///< number of tokens that are predicted
  /// Number of windows, including the short last one.
  std::int64_t windows() const;

 private:
  TokenView tokens;
  WindowShape shape;
  SamplerState now;
  BatchDraw drawn;  // used by next()
};

}  // namespace sinter

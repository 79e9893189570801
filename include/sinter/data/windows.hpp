// SPDX-License-Identifier: Apache-2.0
// Windows of a text, on which language models train and are evaluated.
//
// Window w of a text covers tokens w·context … w·context + context, both included: context + 1
// tokens, of which it shows the first `context` and predicts the last `context`. Neighbours overlap
// by one token, so that each token but the first is predicted once. The last window may be shorter.
// A batch has tokens in ids[0] and targets in ids[1]; each window is one sequence.
#pragma once
#include <cstdint>

#include "sinter/data/permutation.hpp"
#include "sinter/data/source.hpp"
#include "sinter/data/token_view.hpp"

namespace sinter {

/// How a text is cut. Both numbers are at least 1, and their product is below 2³¹.
struct WindowShape {
  int context;    ///< tokens that a window predicts
  int sequences;  ///< windows per batch
};

/// The number of whole windows of `context` in a text of `tokens`: floor((tokens - 1) / context).
std::int64_t whole_windows(std::int64_t tokens, int context);

// Sources for training may be given a function that says how large each batch is (BatchShapes, such
// as RecipeView::batch_shapes). A batch then has as many windows as it says, up to shape.sequences,
// and shows and predicts only the first `length` tokens of each.

/// Gives all windows in order, again and again. Batch s (from 0) of n sequences is windows s·n …
/// s·n+n-1. Windows that are short or do not fill a batch are dropped, and the walk restarts at
/// window 0.
class SequentialWindows {
 public:
  /// throws    ArgumentError, with both numbers, if the text has fewer than sequences · context + 1
  ///           tokens
  SequentialWindows(TokenView tokens, WindowShape shape, BatchShapes shapes = {});

  bool next(HostBatch& batch);  ///< always true
  /// See DataSource; so for restore().
  SamplerState state() const { return now; }
  void restore(const SamplerState& saved);
  bool draw(BatchDraw& draw);  ///< always true; see DividedSource
  /// See DividedSource.
  void fill(const BatchDraw& draw, HostBatch& batch) const;

  /// The number of batches until the walk restarts, if all are whole.
  std::int64_t batches_per_epoch() const { return windows / shape.sequences; }

 private:
  TokenView tokens;
  WindowShape shape;
  BatchShapes shapes;
  std::int64_t windows;
  SamplerState now;
  BatchDraw drawn;  // by next()

  void restart_at_end();
};

/// Gives windows in an order that is drawn anew for each epoch, from the seed and the epoch alone.
/// An epoch has a phase p, 0 <= p < context: its windows start p tokens into the text, so that the
/// borders between windows move from epoch to epoch. What is left over, p tokens before and less
/// than a window after, is not predicted in that epoch; other phases reach it. Each window comes
/// exactly once per epoch, and a batch at an epoch's end is filled up from the next. Restoring
/// needs no replay, and the order no memory.
class ShuffledWindows {
 public:
  /// throws    ArgumentError, with both numbers, if the text has fewer than context + 1 tokens
  ShuffledWindows(TokenView tokens, WindowShape shape, std::uint64_t seed, BatchShapes shapes = {});

  bool next(HostBatch& batch);  ///< always true
  /// See DataSource.
  SamplerState state() const { return now; }
  /// Takes over the saved seed as well.
  void restore(const SamplerState& saved);
  bool draw(BatchDraw& draw);  ///< always true; see DividedSource
  /// See DividedSource.
  void fill(const BatchDraw& draw, HostBatch& batch) const;

  // Of the present epoch:
  /// How many tokens of the text lie before the first window of this epoch.
  std::int64_t phase() const { return epoch.first_token; }
  /// How many windows this epoch has.
  std::int64_t windows() const { return std::int64_t(epoch.order.size()); }

 private:
  struct Epoch {
    std::int64_t first_token;
    Permutation order;
  };
  TokenView tokens;
  WindowShape shape;
  BatchShapes shapes;
  SamplerState now;
  Epoch epoch;
  BatchDraw drawn;  // by next()

  Epoch epoch_of(const SamplerState& state) const;
};

/// A finite source that gives every window once, in order, the short last one included: each token
/// but the first is predicted exactly once. restore() to a fresh state() starts again.
class EvaluationWindows {
 public:
  /// Batches have up to shape.sequences windows.
  /// throws    ArgumentError if the text has fewer than 2 tokens
  EvaluationWindows(TokenView tokens, WindowShape shape);

  bool next(HostBatch& batch);  ///< false, and an empty batch, after the last window
  /// See DataSource; so for restore().
  SamplerState state() const { return now; }
  void restore(const SamplerState& saved);
  bool draw(BatchDraw& draw);  ///< false after the last window; see DividedSource
  /// See DividedSource.
  void fill(const BatchDraw& draw, HostBatch& batch) const;
  /// Begins at the first window again.
  void restart() { now.position = now.items = 0; }

  std::int64_t predicted() const { return tokens.size() - 1; }  // tokens predicted in all
  /// How many windows there are, the short last one included.
  std::int64_t windows() const;

 private:
  TokenView tokens;
  WindowShape shape;
  SamplerState now;
  BatchDraw drawn;  // by next()
};

}  // namespace sinter

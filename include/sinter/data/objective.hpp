// SPDX-License-Identifier: Apache-2.0
// An objective: which tokens a model is shown, and which it predicts.
#pragma once
#include <functional>
#include <span>
#include <utility>

#include "sinter/data/data_view.hpp"

namespace sinter {

/// The tokens of the data, as an objective sees them.
struct DataTokens {
  int vocabulary;                         ///< size of the data policy's vocabulary
  std::span<const SpecialToken> special;  ///< special tokens in it, as far as the data know
};

/// Changes to the batches of a language model, whose targets are the next tokens.
struct Objective {
  double predicted = 1;  ///< approximate share of the data's predictions that remain
  /// Changes a batch. It is a pure function of the batch, which has a key for each sequence, so
  /// that a resumed run continues as an uninterrupted one.
  std::function<void(HostBatch&)> prepare{};
  /// True if `prepare` takes batches with the content of only a part (HostBatch::part), and
  /// prepares that part as it would in a whole batch. If false, ranks that are processes read whole
  /// batches.
  bool prepares_parts = false;
};

namespace detail {
/// A data source whose batches an objective has prepared.
class PreparedSource {
 public:
  /// Takes a source, and an objective that prepares each of its batches.
  PreparedSource(AnySource source, Objective objective)
      : source_(std::move(source)), objective_(std::move(objective)) {}

  /// Reads and prepares the next batch (DataSource); false at the end of the source.
  bool next(HostBatch& batch) {
    if (!source_.next(batch)) return false;
    batch.predictions.reset();
    objective_.prepare(batch);
    return true;
  }
  /// True if the source divides (DividedSource) and the objective prepares parts.
  bool divides() const { return objective_.prepares_parts && source_.divides(); }
  /// Draws the next batch (DividedSource).
  bool draw(BatchDraw& draw) { return source_.draw(draw); }
  /// Makes and prepares a batch (DividedSource). Resets HostBatch::predictions, now invalid.
  void fill(const BatchDraw& draw, HostBatch& batch) const {
    source_.fill(draw, batch);
    batch.predictions.reset();
    objective_.prepare(batch);
  }
  /// The source's state: draws for an item are not part of it.
  SamplerState state() const { return source_.state(); }
  /// Continues from a state (DataSource).
  void restore(const SamplerState& saved) { source_.restore(saved); }

 private:
  AnySource source_;
  Objective objective_;
};

/// Makes the objective prepare all batches of the opened data.
void prepare_batches(OpenedData& opened, const Objective& objective);
}  // namespace detail

}  // namespace sinter

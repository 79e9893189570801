// SPDX-License-Identifier: Apache-2.0
// What of the data's tokens a model is shown, and what it predicts.
#pragma once
#include <functional>
#include <span>
#include <utility>

#include "sinter/data/data_view.hpp"

namespace sinter {

/// The tokens of the data that an objective is for.
struct DataTokens {
  int vocabulary;                         ///< they are below it: the data policy's
  std::span<const SpecialToken> special;  ///< among them, as far as the data know
};

/// What an objective does with the batches of a language model, whose targets are the next tokens.
struct Objective {
  double predicted = 1;  ///< the share of what the data predict that it predicts, about
  /// Changes a batch. It is a pure function of the batch, which has a key for each sequence, so
  /// that a run that is resumed goes on as it would have done.
  std::function<void(HostBatch&)> prepare{};
  /// Whether `prepare` takes batches that have the content of a part of their sequences alone
  /// (HostBatch::part), and prepares that part as it would in a whole batch. If it does not, ranks that are
  /// processes read whole batches.
  bool prepares_parts = false;
};

/// A data source whose batches an objective has prepared.
class PreparedSource {
 public:
  /// Has the objective prepare each batch of the source.
  PreparedSource(AnySource source, Objective objective)
      : source_(std::move(source)), objective_(std::move(objective)) {}

  /// See DataSource; false when the source has ended.
  bool next(HostBatch& batch) {
    if (!source_.next(batch)) return false;
    batch.predictions.reset();
    objective_.prepare(batch);
    return true;
  }
  /// Whether it is a DividedSource: where the source is, and the objective prepares parts.
  bool divides() const { return objective_.prepares_parts && source_.divides(); }
  /// See DividedSource.
  bool draw(BatchDraw& draw) { return source_.draw(draw); }
  /// See DividedSource. What was known to be predicted is so no longer.
  void fill(const BatchDraw& draw, HostBatch& batch) const {
    source_.fill(draw, batch);
    batch.predictions.reset();
    objective_.prepare(batch);
  }
  /// That of the source: nothing that is drawn for an item needs to be remembered.
  SamplerState state() const { return source_.state(); }
  /// See DataSource.
  void restore(const SamplerState& saved) { source_.restore(saved); }

 private:
  AnySource source_;
  Objective objective_;
};

/// Has the objective prepare all batches of what was opened.
void prepare_batches(OpenedData& opened, const Objective& objective);

}  // namespace sinter

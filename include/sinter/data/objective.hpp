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
};

/// A data source whose batches an objective has prepared.
class PreparedSource {
 public:
  /// Calls `prepare` for each batch of the source.
  PreparedSource(AnySource source, std::function<void(HostBatch&)> prepare)
      : source_(std::move(source)), prepare_(std::move(prepare)) {}

  /// See DataSource; false when the source has ended.
  bool next(HostBatch& batch) {
    if (!source_.next(batch)) return false;
    prepare_(batch);
    return true;
  }
  /// That of the source: nothing that is drawn for an item needs to be remembered.
  SamplerState state() const { return source_.state(); }
  /// See DataSource.
  void restore(const SamplerState& saved) { source_.restore(saved); }

 private:
  AnySource source_;
  std::function<void(HostBatch&)> prepare_;
};

/// Has the objective prepare all batches of what was opened.
void prepare_batches(OpenedData& opened, const Objective& objective);

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
#include "sinter/trainer/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sinter/metric/value_targets.hpp"
#include "trainer/reply_sums.hpp"

namespace sinter::detail {
namespace {

/// The sums of a recipe's metrics.
class MetricSums {
 public:
  explicit MetricSums(const TrainerCore& trainer)
      : metrics_(trainer.recipe().metrics),
        classes_(class_targets(trainer.plan().model)),
        values_(value_targets(trainer.plan().model)),
        width_(classes_ ? classes_.classes : values_.width) {
    for (const Metric& metric : metrics_)
      sums_.emplace_back(metric.is_of_rows() ? std::size_t(metric.sums(width_)) : 0);
  }
  /// True if a metric compares predictions with targets.
  bool need_predictions() const { return std::ranges::any_of(metrics_, &Metric::is_of_rows); }

  /// Adds a batch by what is predicted for its content.
  void add(const HostBatch& batch, const Prediction& prediction) {
    if (classes_) {
      add_classes(batch.ids[std::size_t(classes_.ids)], prediction);
    } else if (values_) {
      add_values(batch.values[std::size_t(values_.values)], prediction);
    }
  }

  /// Forms the figures by the sums of all processes, and by the loss, which is over all of them. Metrics of
  /// texts are left out if no replies are written.
  std::vector<MetricValue> values(TrainerCore& trainer, const Loss& loss,
                                  const ReplySums& replies) {
    std::vector<MetricValue> values;
    for (std::size_t m = 0; m < metrics_.size(); ++m) {
      if (metrics_[m].is_of_texts()) {
        if (trainer.recipe().scores_replies())
          values.push_back({std::string(metrics_[m].name), replies.value(m)});
        continue;
      }
      if (metrics_[m].of_tokens) {
        values.push_back(
            {std::string(metrics_[m].name), metrics_[m].of_tokens(loss.right, loss.count)});
        continue;
      }
      trainer.sum_over_processes(sums_[m]);
      values.push_back({std::string(metrics_[m].name), metrics_[m].value(sums_[m], width_)});
    }
    return values;
  }

 private:
  void add_classes(const std::vector<std::int32_t>& classes, const Prediction& prediction) {
    actual_.clear();
    predicted_.clear();
    logits_.clear();
    for (int row = 0; row < prediction.rows; ++row) {
      if (classes[std::size_t(row)] < 0) continue;
      const auto first = prediction.values.begin() + std::int64_t(row) * prediction.columns;
      const auto end = first + prediction.columns;
      actual_.push_back(classes[std::size_t(row)]);
      predicted_.push_back(std::int32_t(std::max_element(first, end) - first));
      logits_.insert(logits_.end(), first, end);
    }
    for (std::size_t m = 0; m < metrics_.size(); ++m)
      if (metrics_[m].add) metrics_[m].add({width_, actual_, predicted_, logits_}, sums_[m]);
  }

  /// Adds rows by their target numbers, which are 0 or 1 for metrics of classes.
  void add_values(const std::vector<float>& actual, const Prediction& prediction) {
    if (prediction.rows == 0 && actual.empty()) return;  // this process holds none of the rows
    if (prediction.columns != width_ || prediction.values.size() != actual.size())
      throw ArgumentError(fmt::format(
          "Metrics: the model predicts {} rows of {} numbers, and its targets are {} numbers in "
          "rows of {}. Give it a predict() whose result is as its targets, or leave Metrics out.",
          prediction.rows, prediction.columns, actual.size(), width_));
    const std::span<const float> values = prediction.values;
    has_.assign(actual.size(), 0);
    says_.assign(values.size(), 0);
    std::ranges::transform(actual, has_.begin(), [](float target) { return target > 0.5f; });
    std::ranges::transform(values, says_.begin(), [](float logit) { return logit > 0; });
    for (std::size_t m = 0; m < metrics_.size(); ++m) {
      if (metrics_[m].add_sets) metrics_[m].add_sets({width_, has_, says_, values}, sums_[m]);
      if (metrics_[m].add_numbers) metrics_[m].add_numbers({width_, actual, values}, sums_[m]);
    }
  }

  std::span<const Metric> metrics_;
  ClassTargets classes_;
  ValueTargets values_;
  int width_;  // classes, or numbers of a row
  std::vector<std::vector<double>> sums_;
  std::vector<std::int32_t> actual_, predicted_;
  std::vector<float> logits_;
  std::vector<std::uint8_t> has_, says_;  // of rows with any number of classes
};

void count(const HostBatch& batch, Evaluation& into) {
  into.sequences += batch.sequences();
  if (!batch.examples) return;
  if (!into.examples) into.examples.emplace();
  *into.examples += *batch.examples;
}

/// Reads the next batch whole, as TrainerCore::read_part() does a part of it.
bool read_whole(TrainerCore& trainer, AnySource& data, HostBatch& batch) {
  try {
    batch.part = {};
    batch.predictions.reset();
    return data.next(batch);
  } catch (...) {
    trainer.give_up();
    throw;
  }
}

}  // namespace

std::optional<Evaluation> evaluate_all(TrainerCore& trainer, AnySource& data,
                                       const std::function<bool()>& stop,
                                       const std::function<void(std::int64_t done)>& on_batch) {
  Evaluation found;
  MetricSums sums(trainer);
  ReplySums replies(trainer, data);
  const bool predicts = sums.need_predictions();
  const BatchPart part = trainer.part();
  HostBatch batch;
  BatchDraw draw;
  while (replies.are_together() ? read_whole(trainer, data, batch)
                                : trainer.read_part(data, batch, draw)) {
    if (stop && stop()) return std::nullopt;
    found.loss += replies.evaluate(batch);
    count(batch, found);
    if (predicts) {
      const Prediction prediction = trainer.predict(batch);
      const bool all_have_it = batch.part.is_whole();  // then only one process counts it
      if (!all_have_it || part.rank == 0) sums.add(batch, prediction);
    }
    replies.add(batch);
    if (on_batch) on_batch(found.loss.count);
  }
  const auto goes_on = [&] { return !stop || !stop(); };
  const bool are_fine = std::isfinite(found.loss.sum);  // bad weights have no next token
  if (are_fine && !replies.write(goes_on)) return std::nullopt;
  found.metrics = sums.values(trainer, found.loss, replies);
  return found;
}

}  // namespace sinter::detail

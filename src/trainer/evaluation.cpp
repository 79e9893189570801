// SPDX-License-Identifier: Apache-2.0
#include "sinter/trainer/evaluation.hpp"

#include <algorithm>
#include <cmath>

#include "sinter/metric/class_targets.hpp"
#include "trainer/reply_sums.hpp"

namespace sinter::detail {
namespace {

/// The sums of a recipe's metrics.
class MetricSums {
 public:
  explicit MetricSums(const TrainerCore& trainer)
      : metrics_(trainer.recipe().metrics), targets_(class_targets(trainer.plan().model)) {
    for (const Metric& metric : metrics_)
      sums_.emplace_back(metric.is_of_classes() ? std::size_t(metric.sums(targets_.classes)) : 0);
  }
  /// True if a metric compares the logits of predictions with classes.
  bool need_predictions() const { return std::ranges::any_of(metrics_, &Metric::is_of_classes); }

  /// Adds a batch by the logits of its content.
  void add(const HostBatch& batch, const Prediction& prediction) {
    const std::vector<std::int32_t>& classes = batch.ids[std::size_t(targets_.ids)];
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
      if (metrics_[m].is_of_classes())
        metrics_[m].add({targets_.classes, actual_, predicted_, logits_}, sums_[m]);
  }

  /// Forms the figures by the sums of all processes, and by the loss, which is over all of them. Metrics of
  /// texts are left out if no replies are written.
  std::vector<MetricValue> values(TrainerCore& trainer, const Loss& loss,
                                  const ReplySums& replies) {
    constexpr std::size_t at_once = 3;
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
      const std::span sums = sums_[m];
      for (std::size_t k = 0; k < sums.size(); k += at_once)
        trainer.sum_over_processes(sums.subspan(k, std::min(at_once, sums.size() - k)));
      values.push_back({std::string(metrics_[m].name), metrics_[m].value(sums, targets_.classes)});
    }
    return values;
  }

 private:
  std::span<const Metric> metrics_;
  ClassTargets targets_;
  std::vector<std::vector<double>> sums_;
  std::vector<std::int32_t> actual_, predicted_;
  std::vector<float> logits_;
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
    found.loss += trainer.evaluate(batch);
    count(batch, found);
    if (predicts) {
      const Prediction prediction = trainer.predict(batch);
      const bool all_have_it = batch.part.is_whole();  // then only one process counts it
      if (!all_have_it || part.rank == 0) sums.add(batch, prediction);
    }
    if (std::isfinite(found.loss.sum)) replies.add(batch);  // bad weights have no next token
    if (on_batch) on_batch(found.loss.count);
  }
  replies.sum_over_processes();
  found.metrics = sums.values(trainer, found.loss, replies);
  return found;
}

}  // namespace sinter::detail

// SPDX-License-Identifier: Apache-2.0
#include "cli/evaluated.hpp"

#include <algorithm>

namespace sinter::detail::cli {
namespace {

/// True if the model takes numbers, and its only target is a class for each row. It then predicts
/// logits of classes.
bool classifies(const PlanView& plan) {
  int classes = 0;
  for (const External& input : plan.model.externals) {
    const bool is_class = input.targets && input.width == 0;
    if (input.width == 0 ? !is_class : input.targets) return false;
    classes += is_class;
  }
  return classes == 1 && !plan.predicting.results.empty();
}

/// Counts the rows whose class has the largest logit, among the rows in the batch.
std::int64_t classified(TrainerCore& trainer, const HostBatch& batch) {
  const Prediction logits = trainer.predict(batch);
  std::int64_t right = 0;
  for (int row = 0; row < logits.rows; ++row) {
    const auto first = logits.values.begin() + std::int64_t(row) * logits.columns;
    right +=
        std::max_element(first, first + logits.columns) - first == batch.ids[0][std::size_t(row)];
  }
  return right;
}

}  // namespace

Evaluated evaluate(TrainerCore& trainer, AnySource& data,
                   const std::function<void(std::int64_t)>& on_batch) {
  Evaluated result;
  const bool predicts = classifies(trainer.plan());
  const BatchPart part = trainer.part();
  std::int64_t right = 0;
  HostBatch batch;
  BatchDraw draw;
  while (trainer.read_part(data, batch, draw)) {
    result.loss += trainer.evaluate(batch);
    if (predicts) {
      const std::int64_t here = classified(trainer, batch);
      const bool all_have_it = batch.part.is_whole();  // then only one process counts it
      if (!all_have_it || part.rank == 0) right += here;
    }
    if (on_batch) on_batch(result.loss.count);
  }
  if (predicts) result.right = std::int64_t(trainer.sum_over_processes(double(right)));
  return result;
}

}  // namespace sinter::detail::cli

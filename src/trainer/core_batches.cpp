// SPDX-License-Identifier: Apache-2.0
// Batches and the parts of them that ranks and processes have.
#include <fmt/format.h>

#include "run/batch_check.hpp"
#include "sinter/error.hpp"
#include "sinter/trainer/core.hpp"
#include "trainer/batch_work.hpp"

namespace sinter {
using namespace detail;

Work detail::part_of(const HostBatch& batch, std::int64_t rank, std::int64_t ranks) {
  const int n = batch.sequences();
  const BatchPart part{int(rank), int(ranks)};
  Work work;
  work.batch = &batch;
  work.first_sequence = part.begin(n);
  work.sequences = part.end(n) - work.first_sequence;
  work.max_sequences = int((n + ranks - 1) / ranks);
  return work;
}

BatchPart TrainerCore::part() const {
  const World& world = settings_.world;
  return world.ranks == 1 ? BatchPart{} : BatchPart{world.rank, world.ranks};
}

std::int64_t TrainerCore::predictions_in(const HostBatch& batch) const {
  std::int64_t count = 0;
  std::size_t ids = 0, values = 0;
  for (const External& e : plan().model.externals) {
    if (e.width) {
      if (e.targets && values < batch.values.size())
        count += std::int64_t(batch.values[values].size());
      ++values;
      continue;
    }
    if (e.targets && ids < batch.ids.size())
      for (std::int32_t id : batch.ids[ids]) count += id >= 0;
    ++ids;
  }
  return count;
}

/// Returns the predictions in all parts of a batch.
std::int64_t TrainerCore::all_predictions_in(const HostBatch& batch) {
  const bool is_whole = batch.part.is_whole();
  if (!is_whole && batch.predictions) return *batch.predictions;
  const std::int64_t count = predictions_in(batch);
  if (!is_whole) return std::int64_t(sum_over_processes(double(count)));
  if (batch.predictions && *batch.predictions != count)
    throw ArgumentError(fmt::format(
        "the batch says that it has {} predictions (HostBatch::predictions), and has {}. Say how "
        "many there are, or, where targets were changed, reset it.",
        *batch.predictions, count));
  return count;
}

/// Returns the weights of the classes of all predictions, in all parts of a batch; without class weights
/// the number of predictions.
double TrainerCore::all_weights_in(const HostBatch& batch, std::int64_t predictions) {
  const std::span<const double> weights = recipe_->class_weights;
  if (weights.empty()) return double(predictions);
  double sum = 0;
  std::size_t ids = 0;
  for (const External& e : plan().model.externals) {
    if (e.width) continue;
    if (e.targets)
      for (const std::int32_t id : batch.ids[ids]) sum += id >= 0 ? weights[std::size_t(id)] : 0;
    ++ids;
  }
  return batch.part.is_whole() ? sum : sum_over_processes(sum);
}

/// Checks a batch. Other processes do not see what is wrong in this one's part, so it gives up, or
/// they would wait for ever.
void TrainerCore::check_part(const HostBatch& batch, const Model& model) try {
  if (!batch.part.is_whole() && batch.part != part())
    throw ArgumentError(fmt::format(
        "the batch has the content of rank {} of {} alone, and this process is rank {} of {}. Read "
        "the part that TrainerCore::part() says, or whole batches.",
        batch.part.rank, batch.part.ranks, part().rank, part().ranks));
  check_batch(plan(), model, batch);
} catch (...) {
  if (!batch.part.is_whole()) give_up();
  throw;
}

}  // namespace sinter

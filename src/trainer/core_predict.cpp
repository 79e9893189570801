// SPDX-License-Identifier: Apache-2.0
// Predictions of a trainer.
#include <algorithm>

#include "run/batch_check.hpp"
#include "run/communicates.hpp"
#include "sinter/base/with_element.hpp"
#include "sinter/error.hpp"
#include "sinter/trainer/core.hpp"
#include "trainer/batch_work.hpp"

namespace sinter {
using namespace detail;

namespace {

/// Appends the predictions of a machine.
void append(Prediction& prediction, const OnHost& values, int rows, int columns, Element element) {
  const std::int64_t size = std::int64_t(rows) * columns;
  with_element(element, [&]<class T>(T) {
    const T* from = values.as<T>();
    prediction.values.insert(prediction.values.end(), from, from + size);
  });
  prediction.rows += rows;
  prediction.columns = columns;
}

}  // namespace

void TrainerCore::check_predicts() const {
  if (plan().predicting.results.empty())
    throw ArgumentError("this recipe's model has no predict(), so there is no prediction.");
}

/// Calls `use` for each micro-batch of the part whose content the batch has. Each part has the same
/// number of micro-batches, the last ones perhaps empty, as processes may communicate in each.
void TrainerCore::on_micro_batches(const HostBatch& batch,
                                   const std::function<void(const Work&)>& use) const {
  const Work part = part_of(batch, batch.part.rank, batch.part.ranks);
  for (int done = 0; done < part.max_sequences; done += plan().micro) {
    Work work = part;
    work.first_sequence += std::min(done, part.sequences);
    work.sequences = std::clamp(part.sequences - done, 0, plan().micro);
    work.max_sequences = std::min(plan().micro, part.max_sequences - done);
    use(work);
  }
}

/// Runs `work` on rank 0, or on all ranks if the program communicates.
void TrainerCore::on_predicting_ranks(const std::function<void(int)>& work) {
  communicates(plan().prediction.program) ? on_ranks(work) : work(0);
}

Prediction TrainerCore::predict(const HostBatch& batch) {
  check_predicts();
  check_part(batch, plan().predicting);
  const Element element = plan().predicting.sizes.element[int(Type::compute)];
  Prediction prediction;
  on_micro_batches(batch, [&](const Work& work) {
    on_predicting_ranks([&](int rank) { machines_[rank]->predict(work); });
    if (work.sequences == 0) return;
    int rows = 0, columns = 0;
    const OnHost values = machines_[0]->result(0, rows, columns);
    append(prediction, values, rows, columns, element);
  });
  return prediction;
}

void TrainerCore::predict_rows(const HostBatch& batch,
                               const std::function<void(const Prediction&)>& on_rows) {
  check_predicts();
  if (!batch.part.is_whole())
    throw ArgumentError(
        "the batch has the content of a part of its sequences alone, and predictions of "
        "rows are for all of them. Read whole batches: HostBatch::part says what a source has "
        "read.");
  check_batch(plan(), plan().predicting, batch);
  const Element element = plan().predicting.sizes.element[int(Type::compute)];
  Prediction part;
  const auto take = [&](const OnHost& values, int rows, int columns) {
    part.rows = 0;
    part.values.clear();
    append(part, values, rows, columns, element);
    on_rows(part);
  };
  on_micro_batches(batch, [&](const Work& work) {
    on_predicting_ranks([&](int rank) {
      if (rank == 0) return machines_[0]->predict_rows(work, take);
      machines_[rank]->predict_rows(work, [](const OnHost&, int, int) {});
    });
  });
}

}  // namespace sinter

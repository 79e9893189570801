// SPDX-License-Identifier: Apache-2.0
#include "sinter/run/inputs.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "run/binder.hpp"
#include "sinter/base/with_element.hpp"
#include "sinter/data/host_batch.hpp"

namespace sinter::detail {

Inputs::Inputs(kernel::Stream& stream, const PlanView& plan)
    : stream_(stream),
      layers_stream_(stream, plan.matmul_inputs),
      pooled_starts_(std::size_t(std::max({plan.micro, plan.evaluation_micro, plan.max_texts})) + 2,
                     0),
      starts_memory_(std::int64_t((token_axes + 2) * pooled_starts_.size() * sizeof(std::int32_t))),
      statistic_(plan.model.sizes.element[int(Type::statistic)]) {
  starts_.fill(pooled_starts_);
  std::iota(pooled_starts_.begin(), pooled_starts_.end(), 0);
  pooled_starts_shown_ = show_starts(token_axes, pooled_starts_);
  if (plan.max_texts > 0)
    continued_.emplace(std::int64_t(plan.max_texts) * (2 * token_axes + plan.context) *
                       std::int64_t(sizeof(std::int32_t)));
  now_.stream = &layers_stream_;
}

void Inputs::begin(const Work& work, BoundProgram& program, bool training) {
  work_ = work;
  program_ = &program;
  now_.training = training;
  now_.step = work.step;
  now_.seed = work.seed;
  now_.loss_weight = work.loss_weight * work.loss_scale;
  now_.iteration = 0;
  begin_loss(work, training);
}

/// Sets what cross-entropies do beside the plain loss. The memory for it is taken at the first time.
void Inputs::begin_loss(const Work& work, bool training) {
  now_.label_smoothing = work.label_smoothing;
  if (training && !work.class_weights.empty() && !class_weights_) {
    const std::span<const double> weights = work.class_weights;
    const auto bytes = std::int64_t(weights.size()) * bytes_of(statistic_);
    class_weights_.emplace(bytes);
    std::byte* const at = class_weights_->bytes().data();
    const OnHost copy(stream_, at, bytes, Access::write);
    with_element(statistic_, [&]<class T>(T) {
      std::ranges::transform(weights, copy.as<T>(), [](double weight) { return T(weight); });
    });
    now_.class_weights = at;
    now_.class_weight_sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  }
  now_.right = nullptr;
  if (training || !work.counts_right) return;
  if (!right_) right_.emplace(sizeof(*now_.right));
  now_.right = reinterpret_cast<unsigned long long*>(right_->bytes().data());
  clear_on_device(stream_, right_->bytes().data(), sizeof(*now_.right));
}

std::int64_t Inputs::right() {
  const OnHost count(stream_, right_->bytes().data(), sizeof(*now_.right), Access::read);
  return std::int64_t(*count.as<unsigned long long>());
}

int Inputs::iterations() const {
  return (std::max(work_.sequences, work_.max_sequences) + program_->micro - 1) / program_->micro;
}

int Inputs::filled() const { return (work_.sequences + program_->micro - 1) / program_->micro; }

bool Inputs::second_axis_is_first() const { return work_.batch->second_starts.empty(); }

[[gnu::always_inline]] inline Inputs::MicroBatch Inputs::micro_batch(
    int iteration, std::span<const std::int32_t> starts) const {
  MicroBatch at;
  const int end = work_.first_sequence + work_.sequences;
  at.first = std::min(work_.first_sequence + iteration * program_->micro, end);
  at.last = std::min(at.first + program_->micro, end);
  at.first_row = starts[std::size_t(at.first)];
  at.rows = starts[std::size_t(at.last)] - at.first_row;
  const int multiple = program_->row_multiple;
  at.padding = (multiple - at.rows % multiple) % multiple;
  return at;
}

void Inputs::append_shape(std::vector<std::int64_t>& numbers) const {
  for (int k = 0; k < iterations(); ++k)
    for (int axis = 0; axis < token_axes; ++axis) {
      const MicroBatch at =
          micro_batch(k, work_.batch->starts_of(second_axis_is_first() ? 0 : axis));
      numbers.insert(numbers.end(), {at.last - at.first, at.rows, at.padding});
    }
  numbers.push_back(!work_.batch->second_lengths.empty());
}

const std::int32_t* Inputs::show_starts(int place, std::span<const std::int32_t> starts) {
  const std::size_t room = pooled_starts_.size() * sizeof(std::int32_t);
  return show_ids(stream_, starts, starts_memory_.bytes().data() + std::size_t(place) * room);
}

/// Tells layers which rows of the current micro-batch are padding on axis 1.
void Inputs::load_padding() {
  const std::vector<std::int32_t>& lengths = work_.batch->second_lengths;
  if (lengths.empty()) return;
  const MicroBatch at = micro_batch(now_.iteration, work_.batch->starts_of(1));
  lengths_.assign(lengths.begin() + at.first, lengths.begin() + at.last);
  now_.sequences[1].lengths = show_starts(token_axes + 1, lengths_);
}

void Inputs::load_starts() {
  for (int axis = 0; axis < token_axes; ++axis) {
    if (axis > 0 && second_axis_is_first()) {
      now_.sequences[axis] = now_.sequences[0];
      now_.first_row[axis] = now_.first_row[0];
    } else {
      const std::span<const std::int32_t> starts = work_.batch->starts_of(axis);
      const MicroBatch at = micro_batch(now_.iteration, starts);
      std::vector<std::int32_t>& to = starts_[axis];
      int sequences = at.last - at.first;
      for (int s = 0; s <= sequences; ++s) to[s] = starts[at.first + s] - at.first_row;
      if (at.padding > 0) to[++sequences] = at.rows + at.padding;
      const std::int32_t* shown = show_starts(axis, {to.data(), std::size_t(sequences) + 1});
      now_.sequences[axis] = {shown, sequences, at.rows + at.padding};
      now_.first_row[axis] = at.first_row;
    }
    const int count = now_.sequences[axis].count;
    now_.sequences[pooled(axis)] = {pooled_starts_shown_, count, count};
    now_.first_row[pooled(axis)] = work_.first_sequence + now_.iteration * program_->micro;
  }
  load_padding();
}

/// Tells layers where the sequences of a program that continues texts lie in their caches.
void Inputs::load_continued(const Continued& texts) {
  std::byte* to = continued_->bytes().data();
  const auto show = [&](std::span<const std::int32_t> numbers) -> const std::int32_t* {
    if (numbers.empty()) return nullptr;
    const std::int32_t* shown = show_ids(stream_, numbers, to);
    to += numbers.size_bytes();
    return shown;
  };
  for (int axis = 0; axis < token_axes; ++axis) {
    now_.sequences[axis].before = show(texts.before[axis]);
    now_.cache.slots[axis] = show(texts.slots[axis]);
  }
  now_.cache.sources = show(texts.sources);
  now_.cache.source_rows = texts.source_rows;
}

void Inputs::load() {
  const Model& m = *program_->model;
  const HostBatch& batch = *work_.batch;
  load_starts();
  if (work_.continued) load_continued(*work_.continued);
  program_->update(now_);
  const int first = int(now_.first_row[pooled(0)]);
  const int last = std::min(first + program_->micro, work_.first_sequence + work_.sequences);
  int next_ids = 0, next_values = 0, of_axis = -1, rows = 0, padded = 0;
  std::int64_t row = 0;
  for (int e = 0; e < int(m.externals.size()); ++e) {
    const auto [axis, width, targets] = m.externals[e];
    std::byte* to = program_->inputs[e];
    if (axis != std::exchange(of_axis, axis)) {  // most inputs have the axis of the one before
      const std::int64_t first_row = now_.first_row[axis];
      row = first_row - (batch.part.is_whole() ? 0 : batch.held_rows(axis).begin);
      rows = axis < token_axes ? batch.starts_of(axis)[last] - int(first_row) : last - first;
      padded = now_.sequences[axis].rows() - rows;
    }
    if (width == 0) {
      put_ids(stream_, {batch.ids[next_ids++].data() + row, std::size_t(rows)}, to, padded,
              targets ? -1 : 0);
      continue;
    }
    const std::size_t size = std::size_t(rows) * std::size_t(width);
    put_values(stream_, {batch.values[next_values++].data() + row * width, size}, to,
               m.sizes.element[int(Type::compute)], padded * width);
  }
}

}  // namespace sinter::detail

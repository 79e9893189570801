// SPDX-License-Identifier: Apache-2.0
#include "trainer/encoded_texts.hpp"

#include <algorithm>

#include "run/encoder.hpp"
#include "sinter/data/host_batch.hpp"

namespace sinter::detail {

bool EncodedTexts::are_known(const RecipeView& recipe) {
  const PlanView &plan = *recipe.plan, *const writes = recipe.reply_plan();
  return writes && recipe.on_host && recipe.ranks() == 1 &&
         plan.matmul_inputs == kernel::MatmulInputs::whole && plan.row_multiple == 1 &&
         std::ranges::any_of(recipe.metrics, [](const Metric& m) { return m.add_text; }) &&
         have_same_encoder(plan.evaluating, writes->predicting);
}

std::int64_t EncodedTexts::bytes_of(const RecipeView& recipe) {
  if (!are_known(recipe)) return 0;
  const PlanView& plan = *recipe.plan;
  const std::int64_t row = encoded_row_bytes(plan.evaluating), examples = recipe.writes()->examples;
  const std::int64_t kept = examples == 0 ? most_bytes : examples * plan.second_context * row;
  return std::min(most_bytes, kept) + plan.evaluating.sizes.rows[1] * row;
}

std::int64_t reply_bytes(const RecipeView& recipe) {
  const PlanView* const plan = recipe.reply_plan();
  return plan ? plan->memory.total + EncodedTexts::bytes_of(recipe) : 0;
}

EncodedTexts::EncodedTexts(TrainerCore& trainer, std::int64_t most)
    : trainer_(trainer), most_(most) {
  const PlanView& plan = trainer.plan();
  row_bytes_ = encoded_row_bytes(plan.evaluating);
  const Buffer& buffer = encoded_buffer(plan.evaluating, plan.evaluation);
  position_ = buffer.opened_by;
  offset_ = buffer.offset;
}

Loss EncodedTexts::evaluate(const HostBatch& batch) {
  rows_.clear();
  if (taken_ >= most_) return trainer_.evaluate(batch);
  struct Observed {
    TrainerCore& trainer;
    ~Observed() { trainer.observe({}); }
  } const observed{trainer_};
  trainer_.observe({this});
  return trainer_.evaluate(batch);
}

void EncodedTexts::after(const Machine& machine, int position, int) {
  if (position != position_) return;
  const std::int64_t bytes = machine.now().sequences[1].rows() * row_bytes_;
  const std::span rows = machine.arena().subspan(std::size_t(offset_), std::size_t(bytes));
  rows_.insert(rows_.end(), rows.begin(), rows.end());
}

std::vector<std::byte> EncodedTexts::take(const HostBatch& batch, int sequence) {
  const HostBatch::Rows own = batch.own_rows(1, sequence);
  const std::int64_t begin = own.begin * row_bytes_, end = own.end * row_bytes_;
  if (end > std::ssize(rows_) || taken_ + end - begin > most_) return {};
  taken_ += end - begin;
  return {rows_.begin() + begin, rows_.begin() + end};
}

}  // namespace sinter::detail

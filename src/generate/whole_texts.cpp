// SPDX-License-Identifier: Apache-2.0
#include "sinter/generate/whole_texts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "generate/prompts.hpp"
#include "sinter/error.hpp"

namespace sinter {
using namespace detail;

WholeTexts::WholeTexts(TrainerCore& trainer, int max_rows)
    : trainer_(trainer), max_rows_(max_rows) {
  if (max_rows < 1)
    throw ArgumentError(
        fmt::format("A batch of {} rows has none to decode. Give at least 1.", max_rows));
}

void WholeTexts::add(const Prompt& prompt, int hypotheses) {
  check_prompt(trainer_.plan(), prompt);
  int kept = std::max(hypotheses, 1);
  for (const Added& added : prompts_) kept += added.kept;
  if (kept > max_rows_)
    throw ArgumentError(
        fmt::format("The texts need {} rows, their hypotheses included, and the batch has {}. Add "
                    "this one later, or make the batch with more rows.",
                    kept, max_rows_));
  const std::span<const std::int32_t> source = source_of(prompt);
  prompts_.push_back({{source.begin(), source.end()}, std::max(hypotheses, 1)});
  rows_.push_back({int(prompts_.size()) - 1, continued(prompt)});
}

std::span<float> WholeTexts::logits(int row) {
  if (row < 0 || row >= rows())
    throw ArgumentError(fmt::format("The batch has {} rows, and row {} is none.", rows(), row));
  if (rows_[std::size_t(row)].logits.empty()) read();
  return rows_[std::size_t(row)].logits;
}

void WholeTexts::read() {
  const PlanView& plan = trainer_.plan();
  HostBatch batch;
  const bool decodes = !prompts_.front().source.empty();
  batch.ids.resize(decodes ? 2 : 1);
  if (decodes) batch.second_starts.assign(1, 0);
  std::vector<Row*> read;
  for (Row& row : rows_) {
    if (!row.logits.empty()) continue;
    read.push_back(&row);
    const auto& tokens = row.tokens;
    const std::size_t seen = std::min(tokens.size(), std::size_t(plan.context));
    batch.ids.back().insert(batch.ids.back().end(), tokens.end() - std::ptrdiff_t(seen),
                            tokens.end());
    batch.starts.push_back(std::int32_t(batch.ids.back().size()));
    if (!decodes) continue;
    const auto& source = prompts_[std::size_t(row.prompt)].source;
    batch.ids[0].insert(batch.ids[0].end(), source.begin(), source.end());
    batch.second_starts.push_back(std::int32_t(batch.ids[0].size()));
  }
  const Prediction next = trainer_.predict(batch);
  const std::ptrdiff_t width = std::min(plan.vocabulary, next.columns);
  for (std::size_t k = 0; k < read.size(); ++k) {
    const auto first = next.values.begin() + std::ptrdiff_t(k) * next.columns;
    read[k]->logits.assign(first, first + width);
  }
}

void WholeTexts::check_extension(std::span<const int> parents,
                                 std::span<const std::int32_t> tokens) const {
  std::vector<ExtendedRow> rows;
  for (const Row& row : rows_)
    rows.push_back({row.prompt, prompts_[std::size_t(row.prompt)].kept, int(row.tokens.size())});
  detail::check_extension(trainer_.plan(), rows, parents, tokens);
}

void WholeTexts::extend(std::span<const int> parents, std::span<const std::int32_t> tokens) {
  check_extension(parents, tokens);
  std::vector<Row> next;
  std::vector<Added> left;
  int last = -1;
  for (std::size_t k = 0; k < parents.size(); ++k) {
    const Row& parent = rows_[std::size_t(parents[k])];
    if (parent.prompt != last) left.push_back(std::move(prompts_[std::size_t(parent.prompt)]));
    last = parent.prompt;
    next.push_back({int(left.size()) - 1, parent.tokens});
    next.back().tokens.push_back(tokens[k]);
  }
  rows_ = std::move(next);
  prompts_ = std::move(left);
}

}  // namespace sinter

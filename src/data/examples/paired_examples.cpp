// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/paired_examples.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

#include "sinter/error.hpp"

namespace sinter {
using namespace detail;
namespace {

ExampleLimits limits_of(const PairedForm& form) {
  if (form.text < 2 || form.start < -1)
    throw ArgumentError(
        fmt::format("Pairs need at least 2 tokens of what is replied to, the last of which is its "
                    "end, and a start that is an id, or -1; given were {} and {}.",
                    form.text, form.start));
  return {.context = form.text - 1, .label = form.label, .history = form.history};
}

ExampleMarks marks_of(const Tokenizer& tokenizer, const PairedForm& form) {
  ExampleMarks marks = detail::marks_of(tokenizer);
  if (form.start >= 0) marks.start = form.start;
  return marks;
}

}  // namespace

PairedExamples::PairedExamples(const Tokenizer& tokenizer, PairedForm f)
    : form(f), set(tokenizer, limits_of(f), marks_of(tokenizer, f)) {}

ExampleLength PairedExamples::length(std::int64_t number) const {
  const ExampleLength shown = set.length(number);
  return {shown.context + 1, shown.label};
}

namespace {

/// Which rows of an example are in a batch.
struct PairTaken {
  std::size_t context;  // the last ones, without the end
  LabelRows label;
};

/// Appends the example without its content.
PairTaken append_pair_rows(HostBatch& batch, const ExampleTokens& example, int most,
                           int second_most, int padded) {
  const int label = std::min(example.label_rows(), most);
  const std::size_t context = std::min(example.context.size(), std::size_t(second_most) - 1);
  if (batch.second_starts.empty()) batch.second_starts.push_back(0);
  batch.second_starts.push_back(batch.second_starts.back() + std::int32_t(context) + 1);
  const int more = std::max(0, padded - label);
  batch.starts.push_back(batch.starts.back() + label + more);
  batch.count(counts_of({example.full.context + 1, example.full.label},
                        {std::int32_t(context) + 1, label}, more));
  return {context, {0, label, more}};
}

}  // namespace

void PairedExamples::append(HostBatch& batch, std::int64_t number, int most, int padded) const {
  const ExampleTokens example = set.at(number);
  const auto [context, label] = append_pair_rows(batch, example, most, second_limit(most), padded);
  const auto kept = example.context.last(context);
  batch.ids[0].insert(batch.ids[0].end(), kept.begin(), kept.end());
  batch.ids[0].push_back(set.marks().end);
  example.append_label(set.marks(), label, batch.ids[1], batch.ids[2]);
}

void PairedExamples::append_empty(HostBatch& batch, std::int64_t number, int most,
                                  int padded) const {
  append_pair_rows(batch, set.at(number), most, second_limit(most), padded);
}

int PairedExamples::second_rows(std::int64_t number, int most) const {
  return std::min(set.length(number).context + 1, second_limit(most));
}

void PairedExamples::append_second_padding(HostBatch& batch, int rows) const {
  batch.ids[0].insert(batch.ids[0].end(), std::size_t(rows), set.marks().pad);
}

std::uint64_t PairedExamples::hash() const {
  const std::uint64_t parts[] = {set.hash(), std::uint64_t(form.text)};
  return XXH3_64bits(parts, sizeof(parts));
}

ExampleSet::Figures PairedExamples::figures() const {
  ExampleSet::Figures all = set.figures();
  all.context_tokens += size();
  all.longest_context += size() > 0;
  return all;
}

}  // namespace sinter

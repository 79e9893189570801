// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/examples.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sinter/error.hpp"

namespace sinter {
using namespace detail;
namespace {

constexpr std::int64_t max_numbers = std::numeric_limits<std::int32_t>::max();

void require_limits(const ExampleLimits& limits) {
  if (limits.context < 1 || limits.label < 1 || limits.history < 0)
    throw ArgumentError(
        fmt::format("Examples need limits of at least 1 token for contexts and labels, and a "
                    "history of at least 0 turns; given were {}, {} and {}.",
                    limits.context, limits.label, limits.history));
  if (std::int64_t{limits.context} + limits.label > max_numbers)
    throw ArgumentError(fmt::format(
        "Examples of up to {} + {} tokens have more than 2^31 - 1 rows. Use smaller limits.",
        limits.context, limits.label));
}

}  // namespace

ExampleSet::ExampleSet(Tokenizer t, ExampleLimits limits, ExampleMarks m)
    : tokenizer(std::move(t)), bounds(limits), mark(m) {
  require_limits(bounds);
  delimiter = tokenizer.encode("\n");
}

void ExampleSet::require_room(std::size_t more) const {
  if (record_count < max_numbers && size() + std::int64_t(more) <= max_numbers) return;
  throw ArgumentError("There are more than 2^31 - 1 examples or records. Use fewer data.");
}

/// `context` and `label` are tokens; `most` bounds what the label predicts.
void ExampleSet::push(std::int64_t label_begin, std::int64_t context, std::int64_t label,
                      int most) {
  const bool context_cut = context > bounds.context, label_cut = label + 1 > most;
  const auto kept = std::int32_t(std::min<std::int64_t>(label, most));
  const Example example{.label_begin = label_begin,
                        .context = std::int32_t(std::min<std::int64_t>(context, bounds.context)),
                        .label = kept + !label_cut,
                        .label_tokens = kept,
                        .record = std::int32_t(record_count)};
  if (context_cut || label_cut) full.add(size(), {std::int32_t(context), std::int32_t(label + 1)});
  examples.push_back(example);
  all.context_tokens += example.context;
  all.label_tokens += example.label;
  all.contexts_cut += context_cut;
  all.labels_cut += label_cut;
  all.examples_cut += context_cut || label_cut;
  all.longest_context = std::max(all.longest_context, example.context);
  all.longest_label = std::max(all.longest_label, example.label);
}

void ExampleSet::add_pair(std::string_view context, std::string_view label) {
  const std::vector<std::int32_t> both[] = {tokenizer.encode(context), tokenizer.encode(label)};
  add_turns(both);
}

void ExampleSet::add_text(std::string_view text) { add_tokens(tokenizer.encode(text)); }

void ExampleSet::add_dialogue(std::span<const std::string> turns) {
  std::vector<std::vector<std::int32_t>> encoded;
  encoded.reserve(turns.size());
  for (const std::string& turn : turns) encoded.push_back(tokenizer.encode(turn));
  add_turns(encoded);
}

void ExampleSet::add_tokens(std::span<const std::int32_t> text) {
  require_room(1);
  const auto begin = std::int64_t(tokens.size());
  tokens.insert(tokens.end(), text.begin(), text.end());
  push(begin, 0, std::int64_t(text.size()), bounds.rows());
  ++record_count;
}

void ExampleSet::add_turns(std::span<const std::vector<std::int32_t>> turns) {
  require_room(turns.size());
  std::vector<std::int64_t> begins;
  begins.reserve(turns.size());
  const auto gap = std::int64_t(delimiter.size());
  for (std::size_t k = 0; k < turns.size(); ++k) {
    if (k > 0) tokens.insert(tokens.end(), delimiter.begin(), delimiter.end());
    begins.push_back(std::int64_t(tokens.size()));
    tokens.insert(tokens.end(), turns[k].begin(), turns[k].end());
    if (k == 0) continue;
    const std::size_t history = bounds.history == 0 ? k : std::size_t(bounds.history);
    const std::int64_t oldest = begins[k - std::min(k, history)];
    push(begins[k], begins[k] - gap - oldest, std::int64_t(turns[k].size()), bounds.label);
  }
  ++record_count;
}

ExampleTokens ExampleSet::at(std::int64_t number) const {
  const Example& example = examples[std::size_t(number)];
  const auto context = example.label_begin - std::int64_t(delimiter.size()) - example.context;
  const std::span<const std::int32_t> all_tokens = tokens;
  return {.context = example.context == 0
                         ? std::span<const std::int32_t>()
                         : all_tokens.subspan(std::size_t(context), std::size_t(example.context)),
          .label = all_tokens.subspan(std::size_t(example.label_begin),
                                      std::size_t(example.label_tokens)),
          .ends = example.label > example.label_tokens,
          .full = full.of(number, length(number))};
}

void ExampleTokens::append_label(const ExampleMarks& marks, LabelRows rows,
                                 std::vector<std::int32_t>& shown,
                                 std::vector<std::int32_t>& targets) const {
  for (int row = rows.first; row < rows.first + rows.count; ++row) {
    const auto k = std::size_t(row);
    shown.push_back(k == 0 ? marks.start : label[k - 1]);
    targets.push_back(k < label.size() ? label[k] : marks.end);
  }
  shown.insert(shown.end(), std::size_t(rows.padding), marks.pad);
  targets.insert(targets.end(), std::size_t(rows.padding), -1);
}

ExampleLength ExampleSet::length(std::int64_t number) const {
  const Example& example = examples[std::size_t(number)];
  return {example.context, example.label};
}

std::vector<SpecialToken> ExampleSet::special() const {
  std::vector<SpecialToken> all_special = tokenizer.special;
  all_special.push_back({"__start__", mark.start});
  all_special.push_back({"__end__", mark.end});
  return all_special;
}

std::optional<ReplyForm> ExampleSet::replies() const {
  const bool are_texts = all.context_tokens == 0;
  return reply_form(tokenizer, {mark.end}, are_texts ? bounds.rows() : bounds.label);
}

std::int64_t ExampleSet::examples_of(std::int64_t count) const {
  return std::ranges::lower_bound(examples, count, {}, &Example::record) - examples.begin();
}

namespace {

/// Which rows of an example are in a batch.
struct Taken {
  int context;  // the last ones
  LabelRows label;
};

/// Appends the example without its content.
Taken append_rows(HostBatch& batch, const ExampleTokens& example, int most, int padded) {
  const int context_rows = int(example.context.size()), rows = context_rows + example.label_rows(),
            taken = std::min(rows, most);
  const int first = context_rows > 0 ? rows - taken : 0;
  const int context = std::max(0, context_rows - first), label = taken - context;
  const int label_first = std::max(0, first - context_rows);
  const int more = std::max(0, padded - taken);
  batch.starts.push_back(batch.starts.back() + taken + more);
  batch.count(counts_of(example.full, {context, label}, more));
  return {context, {label_first, label, more}};
}

}  // namespace

void ExampleSet::append(HostBatch& batch, std::int64_t number, int most, int padded) const {
  const ExampleTokens example = at(number);
  const auto [context, label] = append_rows(batch, example, most, padded);
  std::vector<std::int32_t>&ids = batch.ids[0], &targets = batch.ids[1];
  const auto kept = example.context.last(std::size_t(context));
  ids.insert(ids.end(), kept.begin(), kept.end());
  targets.insert(targets.end(), std::size_t(context), -1);
  example.append_label(mark, label, ids, targets);
}

void ExampleSet::append_empty(HostBatch& batch, std::int64_t number, int most, int padded) const {
  append_rows(batch, at(number), most, padded);
}

std::uint64_t ExampleSet::hash() const {
  static_assert(sizeof(Example) == 24, "it is hashed as it lies, without padding");
  const auto between = std::uint64_t(mark.end - mark.start);  // 1 for two marks in a row
  const std::uint64_t parts[] = {std::uint64_t(mark.start) | (between ^ 1) << 32, delimiter.size(),
                                 XXH3_64bits(tokens.data(), tokens.size() * sizeof(tokens[0])),
                                 XXH3_64bits(examples.data(), examples.size() * sizeof(Example))};
  return XXH3_64bits(parts, sizeof(parts));
}

}  // namespace sinter

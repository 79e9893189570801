// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/examples.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sinter/error.hpp"

namespace sinter {
namespace {

constexpr std::int64_t most_numbers = std::numeric_limits<std::int32_t>::max();

void require_limits(const ExampleLimits& limits) {
  if (limits.context < 1 || limits.label < 1 || limits.history < 0)
    throw ArgumentError(
        fmt::format("Examples need limits of at least 1 token for contexts and labels, and a "
                    "history of at least 0 turns; given were {}, {} and {}.",
                    limits.context, limits.label, limits.history));
  if (std::int64_t{limits.context} + limits.label > most_numbers)
    throw ArgumentError(fmt::format(
        "Examples of up to {} + {} tokens have more than 2^31 - 1 rows. Use smaller limits.",
        limits.context, limits.label));
}

}  // namespace

ExampleSet::ExampleSet(Tokenizer t, ExampleLimits limits)
    : tokenizer(std::move(t)), bounds(limits), marks(marks_of(tokenizer)) {
  require_limits(bounds);
  delimiter = tokenizer.encode("\n");
}

void ExampleSet::require_room(std::size_t more) const {
  if (record_count < most_numbers && size() + std::int64_t(more) <= most_numbers) return;
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
  examples.push_back(example);
  is_cut.push_back(context_cut || label_cut);
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

ExampleLength ExampleSet::length(std::int64_t number) const {
  const Example& example = examples[std::size_t(number)];
  return {example.context, example.label};
}

std::vector<SpecialToken> ExampleSet::special() const {
  std::vector<SpecialToken> all_special = tokenizer.special;
  all_special.push_back({"__start__", marks.start});
  all_special.push_back({"__end__", marks.end});
  return all_special;
}

std::int64_t ExampleSet::examples_of(std::int64_t count) const {
  return std::ranges::lower_bound(examples, count, {}, &Example::record) - examples.begin();
}

void ExampleSet::append(HostBatch& batch, std::int64_t number, int most, int padded) const {
  const Example& example = examples[std::size_t(number)];
  const int rows = example.context + example.label, taken = std::min(rows, most);
  const int first = example.context > 0 ? rows - taken : 0;
  const std::int64_t context_begin =
      example.label_begin - std::int64_t(delimiter.size()) - example.context;
  std::vector<std::int32_t>&ids = batch.ids[0], &targets = batch.ids[1];
  for (int row = first; row < first + taken; ++row) {
    const int predicted = row - example.context;  // the number of the label's token; below 0: none
    if (predicted < 0) {
      ids.push_back(tokens[std::size_t(context_begin + row)]);
      targets.push_back(-1);
      continue;
    }
    const auto at = std::size_t(example.label_begin + predicted);
    ids.push_back(predicted == 0 ? marks.start : tokens[at - 1]);
    targets.push_back(predicted < example.label_tokens ? tokens[at] : marks.end);
  }
  const int more = std::max(0, padded - taken);
  ids.insert(ids.end(), std::size_t(more), marks.pad);
  targets.insert(targets.end(), std::size_t(more), -1);
  batch.starts.push_back(batch.starts.back() + taken + more);
  if (!batch.examples) batch.examples.emplace();
  const int context = std::max(0, std::min(example.context - first, taken));
  batch.examples->context += context;
  batch.examples->label += taken - context;
  batch.examples->padding += more;
  batch.examples->truncated += is_cut[std::size_t(number)] || taken < rows;
}

std::uint64_t ExampleSet::hash() const {
  static_assert(sizeof(Example) == 24, "it is hashed as it lies, without padding");
  const auto between = std::uint64_t(marks.end - marks.start);  // 1 for two marks in a row
  const std::uint64_t parts[] = {std::uint64_t(marks.start) | (between ^ 1) << 32, delimiter.size(),
                                 XXH3_64bits(tokens.data(), tokens.size() * sizeof(tokens[0])),
                                 XXH3_64bits(examples.data(), examples.size() * sizeof(Example))};
  return XXH3_64bits(parts, sizeof(parts));
}

}  // namespace sinter

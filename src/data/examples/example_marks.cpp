// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/example_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>

#include "data/tokenizer/bounded.hpp"
#include "sinter/data/paired_examples.hpp"
#include "sinter/data/unit.hpp"
#include "sinter/error.hpp"

namespace sinter::detail {
namespace {

/// The first of these names that is one of a special token.
std::optional<std::int32_t> first_of(const Tokenizer& tokenizer,
                                     std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) {
    const auto found = std::ranges::find(tokenizer.special, name, &SpecialToken::name);
    if (found != tokenizer.special.end()) return found->id;
  }
  return std::nullopt;
}

/// An example of which no word of the reply is known, as a set that is empty shows it.
HostBatch unanswered(auto set, const Tokenizer& tokenizer, std::span<const std::string> turns) {
  std::vector<std::vector<std::int32_t>> asked;
  for (const std::string& turn : turns) asked.push_back(tokenizer.encode(turn));
  asked.resize(std::max<std::size_t>(asked.size(), 1) + 1);
  set.add_turns(asked);
  HostBatch batch;
  batch.ids.resize(std::size_t(set.inputs()));
  set.append(batch, set.size() - 1, set.max_rows());
  return batch;
}

}  // namespace

std::int32_t ExampleMarks::vocabulary(const Tokenizer& tokenizer) const {
  return std::max({tokenizer.vocabulary, start + 1, end + 1, pad + 1});
}

ExampleMarks marks_of(const Tokenizer& tokenizer) {
  const std::int32_t count = tokenizer.vocabulary;
  if (count < 1 || count > std::numeric_limits<std::int32_t>::max() - 2)
    throw ArgumentError(fmt::format(
        "Examples need a tokenizer that says how many tokens it has; this one says {}.", count));
  if (tokenizer.special.empty()) return {.start = count, .end = count + 1, .pad = 0};
  const auto end =
      first_of(tokenizer, {"<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "[SEP]"});
  if (!end)
    throw ArgumentError(
        "The tokenizer has special tokens, but none that is known to end a text, which examples "
        "need between a context and its label, and behind the label: <|endoftext|>, "
        "<|end_of_text|>, </s>, <eos> or [SEP]. Add one to its files, or use another tokenizer.");
  const auto pad = first_of(tokenizer, {"<pad>", "[PAD]", "<|pad|>"});
  return {.start = *end, .end = *end, .pad = pad.value_or(*end)};
}

Tokenizer example_tokenizer(const std::filesystem::path& path, int vocabulary) {
  Tokenizer tokenizer = path.empty() ? byte_tokenizer() : load_tokenizer(path);
  require_example_tokenizer(tokenizer, vocabulary);
  return bounded_tokenizer(std::move(tokenizer), vocabulary);
}

void require_example_tokenizer(const Tokenizer& tokenizer, int vocabulary) {
  const ExampleMarks marks = marks_of(tokenizer);
  const bool bytes = tokenizer.identity == byte_tokenizer().identity;
  if (bytes && vocabulary != byte_example_vocabulary)
    throw ArgumentError(fmt::format(
        "The recipe's vocabulary is {}, for the tokens of a tokenizer, and none is named. Give "
        "--tokenizer PATH; or, to take bytes as tokens, give the recipe's data and its model a "
        "vocabulary of {}.",
        thousands(vocabulary), byte_example_vocabulary));
  require_marks(tokenizer, marks, vocabulary);
}

void require_marks(const Tokenizer& tokenizer, const ExampleMarks& marks, int vocabulary) {
  if (const std::int32_t needed = marks.vocabulary(tokenizer);
      tokenizer.special.empty() && needed > vocabulary)
    throw ArgumentError(fmt::format(
        "The tokenizer has {} tokens, with those that divide examples, and the recipe's vocabulary "
        "is {}. Use the tokenizer that the recipe was written for, or give its data and its model "
        "a vocabulary of {}.",
        thousands(needed), thousands(vocabulary), needed));
  for (const std::int32_t mark : {marks.start, marks.end, marks.pad})
    if (mark >= vocabulary)
      throw ArgumentError(fmt::format(
          "The tokenizer marks examples with its token {}, and the recipe's vocabulary is {}. Use "
          "the tokenizer that the recipe was written for, or give its data and its model a "
          "vocabulary of {}.",
          token_name(tokenizer, mark), thousands(vocabulary), tokenizer.vocabulary));
}

Prompt reply_prompt(const Tokenizer& tokenizer, const ExampleLimits& limits,
                    std::span<const std::string> turns) {
  HostBatch batch = unanswered(ExampleSet(tokenizer, limits), tokenizer, turns);
  return {.tokens = std::move(batch.ids[0]),
          .end = marks_of(tokenizer).end,
          .reply = limits.label,
          .cut = batch.examples->truncated > 0};
}

Prompt paired_prompt(const Tokenizer& tokenizer, const PairedForm& form,
                     std::span<const std::string> turns) {
  HostBatch batch = unanswered(PairedExamples(tokenizer, form), tokenizer, turns);
  return {.tokens = std::move(batch.ids[0]),
          .end = marks_of(tokenizer).end,
          .reply = form.label,
          .decoder = std::move(batch.ids[1]),
          .cut = batch.examples->truncated > 0};
}

Prompt text_prompt(const Tokenizer& tokenizer, std::string_view text) {
  const ExampleMarks marks = marks_of(tokenizer);
  Prompt prompt{.tokens = tokenizer.encode(text), .end = marks.end};
  prompt.tokens.insert(prompt.tokens.begin(), marks.start);
  return prompt;
}

Prompt pair_prompt(const Tokenizer& tokenizer, int vocabulary, const ExampleLimits& limits,
                   std::string_view text, bool alone) {
  require_example_tokenizer(tokenizer, vocabulary);
  if (alone) return text_prompt(tokenizer, text);
  const std::string context[] = {std::string(text)};
  return reply_prompt(tokenizer, limits, context);
}

std::vector<std::string> turns_of_lines(std::string_view text) {
  std::vector<std::string> turns;
  for (;;) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    turns.emplace_back(text.substr(0, end));
    if (end == text.size()) return turns;
    text.remove_prefix(end + 1);
  }
}

}  // namespace sinter::detail

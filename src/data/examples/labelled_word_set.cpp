// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/labelled_word_set.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "sinter/data/labelled_set.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"

namespace sinter {
using namespace detail;

constexpr int marks_of_words = 2;

LabelledWordSet::LabelledWordSet(Tokenizer t, LabelledWordForm f, int classes)
    : tokenizer(std::move(t)), form(f), marks(labelled_marks_of(tokenizer)) {
  if (form.context <= marks_of_words || classes < 1)
    throw ArgumentError(
        fmt::format("Labelled words need a context of at least {} tokens, of which {} are marks, "
                    "and at least 1 class; given were {} and {}.",
                    marks_of_words + 1, marks_of_words, form.context, classes));
  all.of.resize(std::size_t(classes));
}

void LabelledWordSet::reserve(std::size_t token_count) {
  tokens.reserve(token_count);
  targets.reserve(token_count);
}

void LabelledWordSet::add_tokens(std::span<const std::vector<std::int32_t>> words,
                                 std::span<const std::int32_t> classes) {
  if (words.size() != classes.size())
    throw ArgumentError(fmt::format("A sentence has {} words, and {} classes of words.",
                                    words.size(), classes.size()));
  for (std::int32_t one : classes)
    if (one >= std::ssize(all.of))
      throw ArgumentError(
          fmt::format("Classes are from 0 to {}, and {} is none.", all.of.size() - 1, one));
  if (added == std::numeric_limits<std::int32_t>::max())
    throw ArgumentError("There are more than 2^31 - 1 sentences. Use fewer data.");
  const std::int64_t record = added++;
  const std::size_t begin = tokens.size(), room = std::size_t(form.context - marks_of_words);
  bool has_class = false;
  std::size_t have = 0;
  std::int32_t labels = 0;
  for (std::size_t w = 0; w < words.size(); ++w) {
    const std::size_t kept = std::min(words[w].size(), room - (tokens.size() - begin));
    have += words[w].size();
    labels += classes[w] >= 0 && !words[w].empty();
    if (kept == 0) continue;
    tokens.insert(tokens.end(), words[w].begin(), words[w].begin() + std::ptrdiff_t(kept));
    targets.push_back(std::max(classes[w], -1));
    targets.insert(targets.end(), kept - 1, -1);
    if (classes[w] < 0) continue;
    has_class = true;
    ++all.of[std::size_t(classes[w])];
  }
  if (!has_class) {
    tokens.resize(begin);
    return targets.resize(begin);
  }
  const auto count = std::int32_t(tokens.size() - begin);
  const bool is_cut = std::size_t(count) < have;
  if (is_cut) full.add(size(), {marks_of_words + std::int32_t(have) - labels, labels});
  examples.push_back({std::int64_t(begin), record, count, is_cut});
  all.rows += marks_of_words + count;
  all.cut += is_cut;
  all.longest = std::max(all.longest, marks_of_words + count);
}

std::int64_t LabelledWordSet::examples_of(std::int64_t count) const {
  return std::ranges::lower_bound(examples, count, {}, &Example::record) - examples.begin();
}

ExampleLength LabelledWordSet::length(std::int64_t number) const {
  const Example& example = examples[std::size_t(number)];
  const auto first = targets.begin() + example.begin;
  const auto classes = std::int32_t(
      std::count_if(first, first + example.count, [](std::int32_t id) { return id >= 0; }));
  return {marks_of_words + example.count - classes, classes};
}

void LabelledWordSet::append(HostBatch& batch, std::int64_t number, int most, int padded) const {
  const Example& example = examples[std::size_t(number)];
  const int kept = std::clamp(most - marks_of_words, 0, int(example.count));
  const int taken = std::min(marks_of_words + kept, most), more = std::max(0, padded - taken);
  const auto fill = [&](std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& from,
                        std::int32_t start, std::int32_t end, std::int32_t pad) {
    const std::size_t begin = ids.size();
    ids.push_back(start);
    const auto first = from.begin() + example.begin;
    ids.insert(ids.end(), first, first + kept);
    ids.push_back(end);
    ids.resize(begin + std::size_t(taken));
    ids.insert(ids.end(), std::size_t(more), pad);
  };
  fill(batch.ids[0], tokens, marks.start, marks.end, marks.pad);
  if (form.types) batch.ids[1].insert(batch.ids[1].end(), std::size_t(taken + more), 0);
  std::vector<std::int32_t>& classes = batch.ids[std::size_t(inputs() - 1)];
  const auto before = std::ssize(classes);
  fill(classes, targets, -1, -1, -1);
  const auto labels = std::int32_t(std::count_if(classes.begin() + before, classes.end(),
                                                 [](std::int32_t id) { return id >= 0; }));
  batch.starts.push_back(batch.starts.back() + taken + more);
  batch.count(counts_of(full.of(number, length(number)), {taken - labels, labels}, more));
}

std::vector<SpecialToken> LabelledWordSet::special() const {
  std::vector<SpecialToken> all_special = tokenizer.special;
  all_special.push_back({"__start__", marks.start});
  all_special.push_back({"__end__", marks.end});
  return all_special;
}

std::uint64_t LabelledWordSet::hash() const {
  static_assert(sizeof(Example) == 24, "it is hashed as it lies, without padding");
  const auto of = [](const auto& list) {
    return XXH3_64bits(list.data(), list.size() * sizeof(list[0]));
  };
  const std::uint64_t parts[] = {std::uint64_t(marks.start), std::uint64_t(marks.end), of(tokens),
                                 of(targets), of(examples)};
  return XXH3_64bits(parts, sizeof(parts));
}

namespace detail {

std::vector<std::string_view> words_in(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(blanks); at != text.npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(blanks, end);
  }
  return words;
}

std::string word_text(std::string_view word, bool is_first) {
  return (is_first ? "" : " ") + std::string(word);
}

Prompt labelled_words_prompt(const Tokenizer& tokenizer, int vocabulary, LabelledWordForm form,
                             std::string_view text) {
  require_example_tokenizer(tokenizer, vocabulary);
  const ExampleMarks marks = labelled_marks_of(tokenizer);
  Prompt prompt{.tokens = {marks.start}};
  for (std::string_view word : words_in(text)) {
    const std::vector<std::int32_t> tokens =
        tokenizer.encode(word_text(word, prompt.words.empty()));
    if (tokens.empty())
      throw ArgumentError(
          fmt::format("The word '{}' has no token. Leave it out.", printable(word, 40)));
    prompt.words.push_back(std::int32_t(prompt.tokens.size()));
    prompt.tokens.insert(prompt.tokens.end(), tokens.begin(), tokens.end());
  }
  if (prompt.words.empty())
    throw ArgumentError("There is no word. Give words with blanks between.");
  prompt.tokens.push_back(marks.end);
  if (std::ssize(prompt.tokens) > form.context)
    throw ArgumentError(fmt::format(
        "The words have {} tokens with their marks, and the context is {}. Make several lines of "
        "it, or build the recipe with a larger .context.",
        prompt.tokens.size(), form.context));
  if (form.types) prompt.types.resize(prompt.tokens.size());
  return prompt;
}

}  // namespace detail

}  // namespace sinter

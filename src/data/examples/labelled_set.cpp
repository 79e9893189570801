// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/labelled_set.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "sinter/error.hpp"

namespace sinter {
using namespace detail;
namespace {

/// Tokens of two texts.
struct Lengths {
  std::int64_t first, second;
};

/// What is kept of two texts, `most` tokens at most. It is truncate_encodings() of the package
/// tokenizers, with LongestFirst.
Lengths longest_first(Lengths have, std::int64_t most) {
  auto [shorter, longer] = std::minmax({have.first, have.second});
  if (shorter + longer > most) {
    longer = std::max(shorter, most - shorter);
    if (shorter + longer > most) {
      shorter = most / 2;
      longer = most - shorter;
    }
  }
  return have.first > have.second ? Lengths{longer, shorter} : Lengths{shorter, longer};
}

}  // namespace

namespace detail {
ExampleMarks labelled_marks_of(const Tokenizer& tokenizer, TextMarks as) {
  ExampleMarks marks = marks_of(tokenizer);
  const bool bert = as == TextMarks::bert;
  const auto first =
      std::ranges::find(tokenizer.special, bert ? "[CLS]" : "<s>", &SpecialToken::name);
  const auto last =
      std::ranges::find(tokenizer.special, bert ? "[SEP]" : "</s>", &SpecialToken::name);
  if (first == tokenizer.special.end() || last == tokenizer.special.end()) return marks;
  marks.start = first->id;
  marks.end = last->id;
  return marks;
}

Tokenizer labelled_tokenizer(const std::filesystem::path& path, int vocabulary, TextMarks marks) {
  Tokenizer tokenizer = example_tokenizer(path, vocabulary);
  require_marks(tokenizer, labelled_marks_of(tokenizer, marks), vocabulary);
  return tokenizer;
}
}  // namespace detail

LabelledSet::LabelledSet(Tokenizer t, LabelledForm f, int classes)
    : tokenizer(std::move(t)), form(f), marks(labelled_marks_of(tokenizer, f.marks)) {
  if (form.context < form.mark_count() || classes < 1)
    throw ArgumentError(
        fmt::format("Labelled texts need a context of at least {} tokens, which are their marks, "
                    "and at least 1 class; given were {} and {}.",
                    form.mark_count(), form.context, classes));
  if (form.label_kind == LabelKind::class_of_token)
    throw ArgumentError("The labels of these texts are of sequences, and not of tokens.");
  all.of.resize(std::size_t(classes));
}

int LabelledSet::rows_of(const Example& example) const {
  return form.mark_count() + example.first + example.second;
}

void LabelledSet::add(std::span<const std::string_view> texts, std::int32_t label) {
  std::vector<std::vector<std::int32_t>> encoded;
  encoded.reserve(texts.size());
  for (std::string_view text : texts) encoded.push_back(tokenizer.encode(text));
  add_tokens(encoded, label);
}

void LabelledSet::add_tokens(std::span<const std::vector<std::int32_t>> texts, std::int32_t label) {
  if (has_numbers())
    throw ArgumentError(
        fmt::format("A label of these texts has {} numbers, and not a class.", all.of.size()));
  if (label < 0 || std::size_t(label) >= all.of.size())
    throw ArgumentError(
        fmt::format("Classes are from 0 to {}, and {} is none.", all.of.size() - 1, label));
  add_texts(texts, label);
  ++all.of[std::size_t(label)];
}

void LabelledSet::add_tokens(std::span<const std::vector<std::int32_t>> texts,
                             std::span<const float> label) {
  if (!has_numbers() || label.size() != all.of.size())
    throw ArgumentError(fmt::format(
        "A label of these texts has {}, and not {} numbers.",
        has_numbers() ? fmt::format("{} numbers", all.of.size()) : std::string("one class"),
        label.size()));
  add_texts(texts, 0);
  for (std::size_t k = 0; k < label.size(); ++k) {
    all.of[k] += label[k] > 0;
    all.least = numbers.empty() ? label[k] : std::min(all.least, label[k]);
    all.most = numbers.empty() ? label[k] : std::max(all.most, label[k]);
    numbers.push_back(label[k]);
  }
}

/// Adds a record without its numbers, if it has any.
void LabelledSet::add_texts(std::span<const std::vector<std::int32_t>> texts, std::int32_t label) {
  const std::size_t count = form.pairs ? 2 : 1;
  if (texts.size() != count)
    throw ArgumentError(fmt::format("A sequence of these labelled texts has {} text{}, and not {}.",
                                    count, count > 1 ? "s" : "", texts.size()));
  if (size() == std::numeric_limits<std::int32_t>::max())
    throw ArgumentError("There are more than 2^31 - 1 labelled texts. Use fewer data.");
  const Lengths have{std::int64_t(texts[0].size()), form.pairs ? std::int64_t(texts[1].size()) : 0};
  const Lengths kept = longest_first(have, form.context - form.mark_count());
  const bool is_cut = kept.first + kept.second < have.first + have.second;
  const Example example{.begin = std::int64_t(tokens.size()),
                        .first = std::int32_t(kept.first),
                        .second = std::int32_t(kept.second),
                        .label = label,
                        .is_cut = is_cut};
  if (is_cut) full.add(size(), {form.mark_count() + std::int32_t(have.first + have.second) - 1, 1});
  tokens.insert(tokens.end(), texts[0].begin(), texts[0].begin() + kept.first);
  if (form.pairs) tokens.insert(tokens.end(), texts[1].begin(), texts[1].begin() + kept.second);
  examples.push_back(example);
  all.rows += rows_of(example);
  all.cut += is_cut;
  all.longest = std::max(all.longest, rows_of(example));
}

ExampleLength LabelledSet::length(std::int64_t number) const {
  return {rows_of(examples[std::size_t(number)]) - 1, 1};
}

/// Appends a sequence without its content. Returns how many of its rows, without padding, are taken.
int LabelledSet::append_rows(HostBatch& batch, std::int64_t number, int most, int padded) const {
  const Example& example = examples[std::size_t(number)];
  const auto [first, second] =
      longest_first({example.first, example.second}, std::max(0, most - form.mark_count()));
  // `most` may be fewer than the marks.
  const int taken = std::min(form.mark_count() + int(first + second), most);
  const int more = std::max(0, padded - taken);
  batch.starts.push_back(batch.starts.back() + taken + more);
  const std::int32_t context = full.of(number, length(number)).context;
  batch.count(counts_of({context, predictions()}, {taken - 1, predictions()}, more));
  return taken;
}

void LabelledSet::append_empty(HostBatch& batch, std::int64_t number, int most, int padded) const {
  append_rows(batch, number, most, padded);
}

void LabelledSet::append(HostBatch& batch, std::int64_t number, int most, int padded) const {
  const Example& example = examples[std::size_t(number)];
  const bool bert = form.marks == TextMarks::bert;
  const Lengths kept =
      longest_first({example.first, example.second}, std::max(0, most - form.mark_count()));
  std::vector<std::int32_t>& ids = batch.ids[0];
  const std::size_t begin = ids.size();
  const auto first = tokens.begin() + example.begin, second = first + example.first;
  ids.push_back(marks.start);
  ids.insert(ids.end(), first, first + kept.first);
  ids.push_back(marks.end);
  const std::size_t of_first = ids.size() - begin;
  if (form.pairs) {
    if (!bert) ids.push_back(marks.end);
    ids.insert(ids.end(), second, second + kept.second);
    ids.push_back(marks.end);
  }
  const int taken = append_rows(batch, number, most, padded), more = std::max(0, padded - taken);
  ids.resize(begin + std::size_t(taken));
  ids.insert(ids.end(), std::size_t(more), marks.pad);
  if (form.types) {
    std::vector<std::int32_t>& types = batch.ids[1];
    for (std::size_t row = 0; row < std::size_t(taken); ++row)
      types.push_back(bert && row >= of_first);
    types.insert(types.end(), std::size_t(more), 0);
  }
  if (has_numbers()) {
    const auto of_label = numbers.begin() + number * predictions();
    batch.values[0].insert(batch.values[0].end(), of_label, of_label + predictions());
  } else {
    batch.ids[std::size_t(inputs() - 1)].push_back(example.label);
  }
}

std::vector<SpecialToken> LabelledSet::special() const {
  std::vector<SpecialToken> all_special = tokenizer.special;
  all_special.push_back({"__start__", marks.start});
  all_special.push_back({"__end__", marks.end});
  return all_special;
}

std::uint64_t LabelledSet::hash() const {
  static_assert(sizeof(Example) == 24, "it is hashed as it lies, without padding");
  const std::uint64_t parts[] = {std::uint64_t(marks.start), std::uint64_t(marks.end),
                                 std::uint64_t(form.mark_count()),
                                 XXH3_64bits(tokens.data(), tokens.size() * sizeof(tokens[0])),
                                 XXH3_64bits(examples.data(), examples.size() * sizeof(Example))};
  const std::uint64_t all_parts = XXH3_64bits(parts, sizeof(parts));
  if (!has_numbers()) return all_parts;
  return XXH3_64bits_withSeed(numbers.data(), numbers.size() * sizeof(float), all_parts);
}

namespace detail {
Prompt labelled_prompt(const Tokenizer& tokenizer, int vocabulary, LabelledForm form,
                       std::string_view text) {
  require_example_tokenizer(tokenizer, vocabulary);
  require_marks(tokenizer, labelled_marks_of(tokenizer, form.marks), vocabulary);
  const auto tabs = std::ranges::count(text, '\t');
  if (form.pairs && tabs != 1)
    throw ArgumentError(fmt::format(
        "The text must be a pair, which is two texts with one tab between them; it has {} tabs.",
        tabs));
  std::vector<std::string_view> texts{text};
  if (form.pairs) {
    const std::size_t tab = text.find('\t');
    texts = {text.substr(0, tab), text.substr(tab + 1)};
  }
  form.label_kind = LabelKind::one_class;  // of which a prompt has none
  LabelledSet set(tokenizer, form, 1);
  set.add(texts, 0);
  HostBatch batch;
  batch.ids.resize(std::size_t(set.inputs()));
  set.append(batch, 0, form.context);
  Prompt prompt{.tokens = std::move(batch.ids[0]), .cut = set.figures().cut > 0};
  if (form.types) prompt.types = std::move(batch.ids[1]);
  return prompt;
}
}  // namespace detail

}  // namespace sinter

// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/labelled_set.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "sinter/batching/length_grouped.hpp"
#include "sinter/batching/padded.hpp"
#include "sinter/data/example_source.hpp"
#include "support/numbered_examples.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::labelled_set_tests {

void add(LabelledSet& set, std::initializer_list<std::string_view> texts, int label) {
  set.add(std::span(texts.begin(), texts.size()), label);
}

/// Tokens as text: '[' for the first mark of bytes, '|' for that behind a text.
std::string shown(const TokenIds& ids) {
  std::string text;
  for (std::int32_t id : ids) text += id == 256 ? '[' : id == 257 ? '|' : char(id);
  return text;
}

/// A set whose sequence number k has k % 5 tokens k, and the class k % 3.
LabelledSet numbered(int count) {
  LabelledSet set(numbered_tokenizer(), {.context = 8}, 3);
  for (int k = 0; k < count; ++k)
    add(set, {std::to_string(k) + ":" + std::to_string(1 + k % 5)}, k % 3);
  return set;
}

/// The sequences of a batch, by the numbers in numbered().
std::vector<int> sequences_in(const HostBatch& batch) {
  std::vector<int> numbers;
  for (int s = 0; s < batch.sequences(); ++s)
    numbers.push_back(batch.ids[0][std::size_t(batch.starts[std::size_t(s)]) + 1]);
  return numbers;
}

TEST_CASE("a text stands between its marks, and has one class") {
  LabelledSet set(byte_tokenizer(), {.context = 10}, 3);
  add(set, {"abc"}, 2);
  add(set, {""}, 0);
  CHECK(set.size() == 2);
  CHECK(set.inputs() == 2);
  CHECK(set.vocabulary() == 258);
  const HostBatch batch = batch_of(set, 0);
  CHECK(batch.ids == std::vector<TokenIds>{{256, 'a', 'b', 'c', 257}, {2}});
  CHECK(batch.starts == TokenIds{0, 5});
  CHECK(batch.examples ==
        ExampleCounts{.context = 4, .label = 1, .full_context = 4, .full_label = 1});
  CHECK(batch_of(set, 1).ids == std::vector<TokenIds>{{256, 257}, {0}});
  CHECK(set.length(0).rows() == 5);
  CHECK(set.length(0).label == 1);
}

TEST_CASE("a pair's second text and the mark after it have type 1") {
  LabelledSet set(byte_tokenizer(), {.context = 10, .pairs = true, .types = true}, 2);
  add(set, {"ab", "xyz"}, 1);
  CHECK(set.inputs() == 3);
  const HostBatch batch = batch_of(set, 0);
  CHECK(batch.ids == std::vector<TokenIds>{
                         {256, 'a', 'b', 257, 'x', 'y', 'z', 257}, {0, 0, 0, 0, 1, 1, 1, 1}, {1}});
  LabelledSet without(byte_tokenizer(), {.context = 10, .pairs = true}, 2);
  add(without, {"ab", "xyz"}, 1);
  CHECK(batch_of(without, 0).ids == std::vector<TokenIds>{batch.ids[0], {1}});
  LabelledSet alone(byte_tokenizer(), {.context = 10, .types = true}, 2);
  add(alone, {"ab"}, 1);
  CHECK(batch_of(alone, 0).ids[1] == TokenIds{0, 0, 0, 0});
}

TEST_CASE("RoBERTa's marks are <s> and </s>, of which a pair has two between its texts") {
  const LabelledForm form{.context = 9, .pairs = true, .types = true, .marks = TextMarks::roberta};
  LabelledSet set(byte_tokenizer(), form, 2);
  add(set, {"ab", "xyz"}, 1);
  add(set, {"abc", "xyz"}, 1);
  CHECK(batch_of(set, 0).ids ==
        std::vector<TokenIds>{{256, 'a', 'b', 257, 257, 'x', 'y', 'z', 257}, TokenIds(9, 0), {1}});
  CHECK(shown(batch_of(set, 1).ids[0]) == "[ab||xyz|");
  CHECK(batch_of(set, 1).examples->truncated == 1);
  LabelledSet alone(byte_tokenizer(), {.context = 4, .marks = TextMarks::roberta}, 2);
  add(alone, {"ab"}, 1);
  CHECK(shown(batch_of(alone, 0).ids[0]) == "[ab|");
  CHECK(contains(refusal([] {
                   LabelledSet(byte_tokenizer(),
                               {.context = 3, .pairs = true, .marks = TextMarks::roberta}, 2);
                 }),
                 "a context of at least 4 tokens"));

  Tokenizer tokenizer = byte_tokenizer();
  tokenizer.vocabulary = 261;
  tokenizer.identity = "bytes with marks";
  tokenizer.special = {{"<s>", 257}, {"<pad>", 258}, {"</s>", 259}, {"<mask>", 260}};
  CHECK(labelled_marks_of(tokenizer, TextMarks::roberta).start == 257);
  CHECK(labelled_marks_of(tokenizer, TextMarks::roberta).end == 259);
  CHECK(labelled_marks_of(tokenizer).start == 259);
  const Prompt prompt = labelled_prompt(
      tokenizer, 261, {.context = 9, .pairs = true, .marks = TextMarks::roberta}, "a\tb");
  CHECK(prompt.tokens == TokenIds{257, 'a', 259, 259, 'b', 259});
  CHECK(contains(
      refusal([&] { labelled_prompt(tokenizer, 259, {.marks = TextMarks::roberta}, "a"); }),
      "recipe's vocabulary is 259"));
}

TEST_CASE("a text that is too long loses its last tokens, and no mark") {
  LabelledSet set(byte_tokenizer(), {.context = 5}, 2);
  add(set, {"abc"}, 0);
  add(set, {"abcd"}, 1);
  CHECK(shown(batch_of(set, 0).ids[0]) == "[abc|");
  CHECK(batch_of(set, 0).examples->truncated == 0);
  CHECK(shown(batch_of(set, 1).ids[0]) == "[abc|");
  CHECK(batch_of(set, 1).examples == ExampleCounts{.context = 4,
                                                   .label = 1,
                                                   .truncated = 1,
                                                   .full_context = 5,
                                                   .full_label = 1,
                                                   .contexts_cut = 1});
  CHECK(set.figures().cut == 1);
  CHECK(set.figures().rows == 10);
  CHECK(set.figures().longest == 5);
  CHECK(set.figures().of == std::vector<std::int64_t>{1, 1});
}

TEST_CASE("pairs are cut as the package tokenizers does, the longest first") {
  // Tokens of both texts, the context, and what is kept of both by tokenizers 0.22 with
  // enable_truncation(context, strategy="longest_first") and BertProcessing.
  constexpr int cases[][5] = {
      {10, 10, 8, 2, 3}, {10, 10, 9, 3, 3}, {3, 10, 9, 3, 3},  {10, 3, 9, 3, 3},
      {10, 3, 10, 4, 3}, {3, 10, 10, 3, 4}, {12, 10, 8, 3, 2}, {10, 12, 8, 2, 3},
      {7, 6, 16, 7, 6},  {7, 6, 15, 6, 6},  {1, 9, 4, 0, 1},   {9, 1, 4, 1, 0},
      {0, 9, 5, 0, 2},   {9, 0, 5, 2, 0},   {5, 5, 3, 0, 0},   {5, 5, 4, 0, 1}};
  for (const auto& [first, second, context, kept_first, kept_second] : cases) {
    CAPTURE(first);
    CAPTURE(second);
    CAPTURE(context);
    const std::string a = std::string("abcdefghijkl").substr(0, std::size_t(first)),
                      b = std::string("ABCDEFGHIJKL").substr(0, std::size_t(second));
    const std::string wanted = "[" + a.substr(0, std::size_t(kept_first)) + "|" +
                               b.substr(0, std::size_t(kept_second)) + "|";
    LabelledSet set(byte_tokenizer(), {.context = context, .pairs = true}, 2);
    add(set, {a, b}, 0);
    CHECK(shown(batch_of(set, 0).ids[0]) == wanted);
    CHECK(set.figures().cut == (kept_first + kept_second < first + second));
    LabelledSet whole(byte_tokenizer(), {.context = 100, .pairs = true}, 2);
    add(whole, {a, b}, 0);
    CHECK(shown(batch_of(whole, 0, context).ids[0]) == wanted);
    CHECK(batch_of(whole, 0, context).examples->truncated ==
          (kept_first + kept_second < first + second));
  }
}

TEST_CASE("a batch may be shorter than the marks") {
  LabelledSet set(byte_tokenizer(), {.context = 10, .pairs = true, .types = true}, 2);
  add(set, {"ab", "xyz"}, 1);
  CHECK(batch_of(set, 0, 2).ids == std::vector<TokenIds>{{256, 257}, {0, 0}, {1}});
  CHECK(batch_of(set, 0, 1).ids == std::vector<TokenIds>{{256}, {0}, {1}});
}

TEST_CASE("marks are [CLS] and [SEP] where the tokenizer has both, else those of examples") {
  Tokenizer tokenizer = byte_tokenizer();
  tokenizer.vocabulary = 300;
  tokenizer.special = {{"[PAD]", 290}, {"[SEP]", 291}, {"[CLS]", 292}};
  LabelledSet bert(tokenizer, {.context = 10}, 2);
  add(bert, {"a"}, 0);
  CHECK(batch_of(bert, 0, 10, 5).ids[0] == TokenIds{292, 'a', 291, 290, 290});
  CHECK(bert.vocabulary() == 300);
  tokenizer.special = {{"<|endoftext|>", 256}};
  LabelledSet gpt2(tokenizer, {.context = 10}, 2);
  add(gpt2, {"a"}, 0);
  CHECK(batch_of(gpt2, 0).ids[0] == TokenIds{256, 'a', 256});
  tokenizer.special = {{"[CLS]", 1}};
  CHECK_THROWS_AS(LabelledSet(tokenizer, {}, 2), ArgumentError);  // nothing ends a text
}

TEST_CASE("padding leaves class and types of a sequence alone") {
  LabelledSet set(byte_tokenizer(), {.context = 10, .pairs = true, .types = true}, 2);
  add(set, {"a", "b"}, 1);
  const HostBatch batch = batch_of(set, 0, 10, 8);
  CHECK(batch.ids ==
        std::vector<TokenIds>{{256, 'a', 257, 'b', 257, 0, 0, 0}, {0, 0, 0, 1, 1, 0, 0, 0}, {1}});
  CHECK(batch.starts == TokenIds{0, 8});
  CHECK(batch.examples ==
        ExampleCounts{.context = 4, .label = 1, .padding = 3, .full_context = 4, .full_label = 1});
}

TEST_CASE("each epoch has each sequence once, with its own class, however batches are made") {
  const LabelledSet set = numbered(101);
  for (const Batching& batching : {Batching{}, Padded::batching(8), LengthGrouped::batching(8)}) {
    CAPTURE(batching.order);
    ExampleBatches source(set, {1, 100}, {.sequences = 8, .seed = 5, .batching = batching});
    HostBatch batch;
    std::vector<int> order;
    while (order.size() < 200) {
      REQUIRE(source.next(batch));
      REQUIRE(batch.ids[1].size() == std::size_t(batch.sequences()));
      const std::vector<int> numbers = sequences_in(batch);
      for (std::size_t s = 0; s < numbers.size(); ++s) REQUIRE(batch.ids[1][s] == numbers[s] % 3);
      order.insert(order.end(), numbers.begin(), numbers.end());
    }
    for (int epoch = 0; epoch < 2; ++epoch) {
      const auto begin = order.begin() + epoch * 100;
      CHECK(std::set(begin, begin + 100).size() == 100);
      CHECK(!std::is_sorted(begin, begin + 100));
      CHECK(*std::min_element(begin, begin + 100) == 1);
    }
  }
}

TEST_CASE("a source goes on, after a restore, with the very sequences that followed") {
  const LabelledSet set = numbered(50);
  ExampleBatches source(set, {0, 50}, {.sequences = 7, .seed = 3});
  HostBatch batch, again;
  for (int k = 0; k < 10; ++k) source.next(batch);
  ExampleBatches resumed(set, {0, 50}, {.sequences = 7, .seed = 4});
  resumed.restore(SamplerState::from_fields(source.state().to_fields()));
  for (int k = 0; k < 10; ++k) {
    source.next(batch);
    resumed.next(again);
    CHECK(batch.ids == again.ids);
    CHECK(batch.starts == again.starts);
    CHECK(batch.keys == again.keys);
  }
}

TEST_CASE("a set with another text, class or form has another hash") {
  auto hash = [](LabelledForm form, std::string_view text, int label) {
    LabelledSet set(byte_tokenizer(), form, 2);
    if (form.pairs)
      add(set, {text, ""}, label);
    else
      add(set, {text}, label);
    return set.hash();
  };
  const std::set<std::uint64_t> all{hash({.context = 9}, "a", 0), hash({.context = 9}, "b", 0),
                                    hash({.context = 9}, "a", 1),
                                    hash({.context = 9, .pairs = true}, "a", 0)};
  CHECK(all.size() == 4);
  CHECK(hash({.context = 9}, "a", 0) == hash({.context = 8}, "a", 0));
}

TEST_CASE("a text that is not labelled is refused, and leaves the set as it was") {
  LabelledSet set(byte_tokenizer(), {.context = 9}, 2);
  CHECK_THROWS_WITH_AS(add(set, {"a"}, 2), "Classes are from 0 to 1, and 2 is none.",
                       ArgumentError);
  CHECK_THROWS_AS(add(set, {"a"}, -1), ArgumentError);
  CHECK_THROWS_AS(add(set, {"a", "b"}, 0), ArgumentError);
  CHECK(set.size() == 0);
  CHECK(set.figures().rows == 0);
  CHECK_THROWS_AS(LabelledSet(byte_tokenizer(), {.context = 1}, 2), ArgumentError);
  CHECK_THROWS_AS(LabelledSet(byte_tokenizer(), {.context = 2, .pairs = true}, 2), ArgumentError);
  CHECK_THROWS_AS(LabelledSet(byte_tokenizer(), {}, 0), ArgumentError);
}

TEST_CASE("a prompt is a sequence without its class; a pair's texts have a tab between") {
  const Prompt one = labelled_prompt(byte_tokenizer(), 258, {.context = 5}, "abcd");
  CHECK(shown(one.tokens) == "[abc|");
  CHECK(one.types.empty());
  CHECK(one.cut);
  CHECK(!labelled_prompt(byte_tokenizer(), 258, {.context = 6}, "abcd").cut);
  const LabelledForm pairs{.context = 9, .pairs = true, .types = true};
  const Prompt pair = labelled_prompt(byte_tokenizer(), 258, pairs, "a\tbc");
  CHECK(shown(pair.tokens) == "[a|bc|");
  CHECK(pair.types == TokenIds{0, 0, 0, 1, 1, 1});
  CHECK_THROWS_AS(labelled_prompt(byte_tokenizer(), 258, pairs, "a"), ArgumentError);
  CHECK_THROWS_AS(labelled_prompt(byte_tokenizer(), 258, pairs, "a\tb\tc"), ArgumentError);
  CHECK_THROWS_AS(labelled_prompt(byte_tokenizer(), 300, {}, "a"), ArgumentError);
}

}  // namespace sinter::detail::testing::labelled_set_tests

// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/examples.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "unit/data/support.hpp"

namespace sinter::detail::testing::examples_tests {

constexpr std::int32_t start = 256, end = 257;

void check(const HostBatch& batch, const std::string& shown, const std::string& predicted) {
  CHECK(batch.ids[0] == tokens(shown));
  CHECK(batch.ids[1] == tokens(predicted));
  CHECK(batch.starts == std::vector<std::int32_t>{0, std::int32_t(shown.size())});
}

ExampleSet set_of(ExampleLimits limits) { return {byte_tokenizer(), limits}; }

TEST_CASE("a pair shows its context, and predicts its label and the label's end alone") {
  ExampleSet set = set_of({.context = 10, .label = 10});
  set.add_pair("how", "so");
  REQUIRE(set.size() == 1);
  CHECK(set.records() == 1);
  CHECK(set.vocabulary() == 258);
  CHECK(set.length(0).context == 3);
  CHECK(set.length(0).label == 3);
  check(batch_of(set, 0), "how<so", "___so>");
}

TEST_CASE("a text alone is predicted from its first token to its end") {
  ExampleSet set = set_of({.context = 2, .label = 3});
  set.add_text("abcd");
  set.add_text("abcde");  // with its end one token too long for the 5 rows
  check(batch_of(set, 0), "<abcd", "abcd>");
  check(batch_of(set, 1), "<abcd", "abcde");
  CHECK(set.figures().labels_cut == 1);
}

TEST_CASE("every turn but the first is an example with all turns before it") {
  ExampleSet set = set_of({.context = 100, .label = 100});
  set.add_dialogue(std::vector<std::string>{"a", "bc", "", "d"});
  REQUIRE(set.size() == 3);
  CHECK(set.records() == 1);
  check(batch_of(set, 0), "a<bc", "_bc>");
  check(batch_of(set, 1), "a\nbc<", "____>");
  check(batch_of(set, 2), "a\nbc\n<d", "_____d>");
}

TEST_CASE("the history is so many of the newest turns") {
  ExampleSet set = set_of({.context = 100, .label = 100, .history = 2});
  set.add_dialogue(std::vector<std::string>{"a", "b", "c", "d"});
  check(batch_of(set, 0), "a<b", "_b>");
  check(batch_of(set, 1), "a\nb<c", "___c>");
  check(batch_of(set, 2), "b\nc<d", "___d>");
}

TEST_CASE("a context keeps its last tokens and a label its first, without an end") {
  ExampleSet set = set_of({.context = 3, .label = 3});
  set.add_pair("12345", "ab");
  set.add_pair("123", "abc");
  set.add_dialogue(std::vector<std::string>{"12", "ab", "xyz"});
  check(batch_of(set, 0), "345<ab", "___ab>");
  check(batch_of(set, 1), "123<ab", "___abc");
  check(batch_of(set, 3), "\nab<xy", "___xyz");
  const ExampleSet::Figures& figures = set.figures();
  CHECK(figures.contexts_cut == 2);
  CHECK(figures.labels_cut == 2);
  CHECK(figures.examples_cut == 3);
  CHECK(figures.context_tokens == 3 + 3 + 2 + 3);
  CHECK(figures.label_tokens == 12);
  CHECK(figures.longest_context == 3);
  CHECK(figures.longest_label == 3);
}

TEST_CASE("padding predicts nothing, and a shorter sequence keeps the label or the text's start") {
  ExampleSet set = set_of({.context = 10, .label = 10});
  set.add_pair("ab", "c");
  set.add_text("abc");
  const HostBatch padded = batch_of(set, 0, 100, 8);
  CHECK(padded.ids[0] == TokenIds{'a', 'b', start, 'c', 0, 0, 0, 0});
  CHECK(padded.ids[1] == TokenIds{-1, -1, 'c', end, -1, -1, -1, -1});
  CHECK(padded.starts == std::vector<std::int32_t>{0, 8});
  check(batch_of(set, 0, 3), "b<c", "_c>");
  check(batch_of(set, 1, 2), "<a", "ab");
}

TEST_CASE("a batch counts the rows of its examples before and after a cut, and what was cut") {
  ExampleSet set = set_of({.context = 4, .label = 10});
  set.add_pair("ab", "c");     // 2 and 2 rows
  set.add_pair("12345", "c");  // its context is cut to 4
  set.add_text("abc");         // 0 and 4
  HostBatch batch;
  batch.ids.resize(2);
  set.append(batch, 0, 100, 8);
  CHECK(batch.examples ==
        ExampleCounts{.context = 2, .label = 2, .padding = 4, .full_context = 2, .full_label = 2});
  set.append(batch, 1, 100, 8);
  CHECK(batch.examples == ExampleCounts{.context = 2 + 4,
                                        .label = 2 + 2,
                                        .padding = 4 + 2,
                                        .truncated = 1,
                                        .full_context = 2 + 5,
                                        .full_label = 2 + 2,
                                        .contexts_cut = 1});
  set.append(batch, 2, 100);
  CHECK(batch.examples == ExampleCounts{.context = 6,
                                        .label = 4 + 4,
                                        .padding = 6,
                                        .truncated = 1,
                                        .full_context = 7,
                                        .full_label = 4 + 4,
                                        .contexts_cut = 1});
  batch.clear();
  CHECK_FALSE(batch.examples);
  set.append(batch, 0, 3);  // a row of the context is left out
  set.append(batch, 0, 1);  // all of it, and a row of the label
  set.append(batch, 2, 2);
  CHECK(batch.examples == ExampleCounts{.context = 1,
                                        .label = 2 + 1 + 2,
                                        .truncated = 3,
                                        .full_context = 2 + 2,
                                        .full_label = 2 + 2 + 4,
                                        .contexts_cut = 2,
                                        .labels_cut = 2});
}

TEST_CASE("a label that is cut counts whole with its end, and a context with all turns before it") {
  ExampleSet set = set_of({.context = 4, .label = 3});
  set.add_dialogue(std::vector<std::string>{"12345", "abc", "x"});
  const HostBatch first = batch_of(set, 0), second = batch_of(set, 1);
  CHECK(first.examples == ExampleCounts{.context = 4,
                                        .label = 3,
                                        .truncated = 1,
                                        .full_context = 5,
                                        .full_label = 4,
                                        .contexts_cut = 1,
                                        .labels_cut = 1});
  CHECK(second.examples == ExampleCounts{.context = 4,
                                         .label = 2,
                                         .truncated = 1,
                                         .full_context = 9,
                                         .full_label = 2,
                                         .contexts_cut = 1});
}

TEST_CASE("records say which examples they gave, and those that gave none do not disturb it") {
  ExampleSet set = set_of({});
  set.add_dialogue(std::vector<std::string>{"alone"});
  set.add_dialogue(std::vector<std::string>{"a", "b", "c"});
  set.add_dialogue({});
  set.add_pair("x", "y");
  CHECK(set.records() == 4);
  CHECK(set.examples_of(0) == 0);
  CHECK(set.examples_of(1) == 0);
  CHECK(set.examples_of(2) == 2);
  CHECK(set.examples_of(3) == 2);
  CHECK(set.examples_of(4) == 3);
}

TEST_CASE("another text, another cut and another tokenizer have another hash") {
  auto hash = [](ExampleLimits limits, const std::string& a, const std::string& b) {
    ExampleSet set = set_of(limits);
    set.add_pair(a, b);
    return set.hash();
  };
  const std::uint64_t one = hash({}, "ab", "cd");
  CHECK(hash({}, "ab", "cd") == one);
  CHECK(hash({}, "ab", "ce") != one);
  CHECK(hash({}, "a", "bcd") != one);
  CHECK(hash({.context = 1}, "ab", "cd") != one);
  Tokenizer larger = byte_tokenizer();
  larger.vocabulary = 300;
  ExampleSet other(larger, {});
  other.add_pair("ab", "cd");
  CHECK(other.hash() != one);
}

TEST_CASE("where the tokenizer has an end of a text, that divides examples, and pads them") {
  Tokenizer tokenizer = byte_tokenizer();
  tokenizer.special = {{"</s>", 2}, {"<pad>", 3}};
  ExampleSet set(tokenizer, {.context = 10, .label = 10});
  set.add_pair("ab", "c");
  CHECK(set.vocabulary() == 256);
  const HostBatch padded = batch_of(set, 0, 100, 6);
  CHECK(padded.ids[0] == TokenIds{'a', 'b', 2, 'c', 3, 3});
  CHECK(padded.ids[1] == TokenIds{-1, -1, 'c', 2, -1, -1});
}

TEST_CASE("tokens are the same examples as their texts") {
  const Tokenizer bytes = byte_tokenizer();
  ExampleSet texts = set_of({}), turns = set_of({});
  texts.add_pair("a", "bc");
  texts.add_dialogue(std::vector<std::string>{"a", "", "d"});
  texts.add_text("ef");
  turns.add_turns(std::vector<TokenIds>{bytes.encode("a"), bytes.encode("bc")});
  turns.add_turns(std::vector<TokenIds>{bytes.encode("a"), {}, bytes.encode("d")});
  turns.add_tokens(bytes.encode("ef"));
  CHECK(turns.hash() == texts.hash());
  CHECK(turns.records() == 3);
}

TEST_CASE("limits and tokenizers that cannot be are refused") {
  CHECK_THROWS_AS(set_of({.context = 0}), ArgumentError);
  CHECK_THROWS_AS(set_of({.label = 0}), ArgumentError);
  CHECK_THROWS_AS(set_of({.history = -1}), ArgumentError);
  CHECK_THROWS_AS(set_of({.context = 1 << 30, .label = 1 << 30}), ArgumentError);
  Tokenizer silent = byte_tokenizer();
  silent.vocabulary = 0;
  CHECK_THROWS_AS(ExampleSet(silent, {}), ArgumentError);
}

TEST_CASE("a record that the tokenizer refuses adds nothing") {
  Tokenizer picky = byte_tokenizer();
  picky.encode = [bytes = picky.encode](std::string_view text) {
    if (text == "bad") throw ArgumentError("no token stands for it");
    return bytes(text);
  };
  ExampleSet set(picky, {});
  set.add_pair("a", "b");
  const std::uint64_t before = set.hash();
  CHECK_THROWS_AS(set.add_dialogue(std::vector<std::string>{"a", "b", "bad"}), ArgumentError);
  CHECK_THROWS_AS(set.add_pair("a", "bad"), ArgumentError);
  CHECK_THROWS_AS(set.add_text("bad"), ArgumentError);
  CHECK(set.hash() == before);
  CHECK(set.records() == 1);
  CHECK(set.size() == 1);
}

}  // namespace sinter::detail::testing::examples_tests

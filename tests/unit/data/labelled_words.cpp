// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/labelled_words.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "sinter/data/example_source.hpp"
#include "sinter/model/bert.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/recipe/plan.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::labelled_words_tests {

// What models it fits; tests/reject/data.cpp has those that it does not.
constexpr BertOptions small{.layers = 1,
                            .heads = 2,
                            .width = 16,
                            .hidden = 16,
                            .vocabulary = 258,
                            .positions = 16,
                            .labels = 2,
                            .label_kind = LabelKind::class_of_token};
struct words : Recipe<Bert<small>, LabelledWords<"tags", "tokens", {.context = 16}>> {};
struct distilled : Recipe<DistilBert<{.layers = 1,
                                      .heads = 2,
                                      .width = 16,
                                      .hidden = 16,
                                      .vocabulary = 258,
                                      .positions = 16,
                                      .labels = 2,
                                      .label_kind = LabelKind::class_of_token}>,
                          LabelledWords<"tags", "tokens", {.context = 16}>> {};
static_assert(ready<words>() && ready<distilled>());

/// Tokens of bytes as text, with '[' and '|' for marks and 'p' for padding.
std::string shown(const TokenIds& ids) {
  std::string text;
  for (std::int32_t id : ids) text += id == 256 ? '[' : id == 257 ? '|' : char(id);
  return text;
}
/// Classes as digits, and '_' for none.
std::string classes(const TokenIds& ids) {
  std::string text;
  for (std::int32_t id : ids) text += id < 0 ? '_' : char('0' + id);
  return text;
}

/// All that is read, as the tokens and the classes of each sentence.
template <class Policy>
std::string read(const std::string& lines) {
  TemporaryFolder folder;
  OpenedData data = opened<Policy>(put(folder / "lines", lines));
  HostBatch batch;
  std::string text;
  while (data.evaluation->next(batch))
    text += shown(batch.ids[0]) + " " + classes(batch.ids.back()) + "\n";
  return text;
}
template <class Policy>
void refuses(const std::string& lines, const std::string& says) {
  check_refused([&] { read<Policy>(lines); }, says);
}

using Json = LabelledWords<"tags", "tokens", {.classes = 3}>;
using Named = LabelledWords<"tags", "tokens", {.classes = 3}, "O, B-PER, I-PER">;
using Columns =
    LabelledWords<"4", "1", {.classes = 3, .format = WordFormat::columns}, "O,B-PER,I-PER">;

TEST_CASE("the first token of a word has its class, and no other token has one") {
  LabelledWordSet set(byte_tokenizer(), {.context = 9, .types = true}, 3);
  const std::vector<TokenIds> sentence{{'a', 'b'}, {'c'}, {'d', 'e'}};
  set.add_tokens(sentence, TokenIds{2, -100, 0});
  const HostBatch batch = batch_of(set, 0);
  CHECK(shown(batch.ids[0]) == "[abcde|");
  CHECK(batch.ids[1] == TokenIds(7, 0));
  CHECK(classes(batch.ids[2]) == "_2__0__");
  CHECK(batch.examples ==
        ExampleCounts{.context = 5, .label = 2, .full_context = 5, .full_label = 2});
  CHECK(set.length(0).rows() == 7);
  CHECK(set.length(0).label == 2);
  CHECK(set.figures().of == std::vector<std::int64_t>{1, 0, 1});

  // In a batch of shorter sequences, and of padded ones.
  const HostBatch cut = batch_of(set, 0, 4), padded = batch_of(set, 0, 9, 9);
  CHECK(shown(cut.ids[0]) == "[ab|");
  CHECK(classes(cut.ids[2]) == "_2__");
  CHECK(cut.examples == ExampleCounts{.context = 3,
                                      .label = 1,
                                      .truncated = 1,
                                      .full_context = 5,
                                      .full_label = 2,
                                      .contexts_cut = 1,
                                      .labels_cut = 1});
  CHECK(padded.rows() == 9);
  CHECK(classes(padded.ids[2]) == "_2__0____");
  CHECK(padded.examples->padding == 2);
}

TEST_CASE("a sentence that is too long loses its last tokens; one without a class is no example") {
  LabelledWordSet set(byte_tokenizer(), {.context = 5}, 2);
  const std::vector<TokenIds> sentence{{'a', 'b'}, {'c', 'd'}, {'e'}};
  set.add_tokens(sentence, TokenIds{-1, -1, 1});
  set.add_tokens(sentence, TokenIds{1, 0, 1});
  CHECK(set.records() == 2);
  CHECK(set.size() == 1);
  CHECK(set.examples_of(1) == 0);
  CHECK(set.examples_of(2) == 1);
  CHECK(shown(batch_of(set, 0).ids[0]) == "[abc|");
  CHECK(classes(batch_of(set, 0).ids[1]) == "_1_0_");
  CHECK(batch_of(set, 0).examples == ExampleCounts{.context = 3,
                                                   .label = 2,
                                                   .truncated = 1,
                                                   .full_context = 4,
                                                   .full_label = 3,
                                                   .contexts_cut = 1,
                                                   .labels_cut = 1});
  CHECK(set.figures().cut == 1);
  CHECK_THROWS_AS(set.add_tokens(sentence, TokenIds{1, 0}), ArgumentError);
  CHECK_THROWS_AS(set.add_tokens(sentence, TokenIds{1, 0, 2}), ArgumentError);
  CHECK(set.records() == 2);
  CHECK_THROWS_AS(LabelledWordSet(byte_tokenizer(), {.context = 2}, 2), ArgumentError);
}

TEST_CASE("the hash tells tokens and classes apart") {
  const auto hash = [](std::int32_t token, std::int32_t label) {
    LabelledWordSet set(byte_tokenizer(), {}, 2);
    set.add_tokens(std::vector<TokenIds>{{token}, {'b'}}, TokenIds{label, 0});
    return set.hash();
  };
  CHECK(std::set{hash('a', 0), hash('c', 0), hash('a', 1), hash('a', -1)}.size() == 4);
  CHECK(hash('a', -1) == hash('a', -100));
}

TEST_CASE("words and classes are read from JSON lines and from CoNLL's columns") {
  CHECK(read<Json>("{\"tokens\": [\"Jo\", \"is\"], \"tags\": [1, 0], \"id\": 7}\n\n"
                   "{\"tags\": [-100, 2], \"tokens\": [\"a\", \"b\"]}") ==
        "[Jo is| _1_0___\n[a b| __2__\n");
  CHECK(read<Named>("{\"tokens\": [\"Jo\", \"is\"], \"tags\": [\"B-PER\", \"O\"]}\n") ==
        "[Jo is| _1_0___\n");
  CHECK(read<Columns>("-DOCSTART- -X- -X- O\n\nJo NNP B-NP B-PER\nLi NNP I-NP I-PER\r\n\n"
                      "is VB B-VP O\n") == "[Jo Li| _1_2___\n[is| _0__\n");
  CHECK(Json::text() == "tags, tokens");
  CHECK(Named::class_names == "O, B-PER, I-PER");
}

TEST_CASE("a sentence that is none is an error with file, line and what is expected") {
  const auto line = [](const std::string& words, const std::string& tags) {
    return "\n{\"tokens\": " + words + ", \"tags\": " + tags + "}\n";
  };
  refuses<Json>(line("[\"a\"]", "[0, 1]"), "line 2 of '");
  refuses<Json>(line("[\"a\"]", "[0, 1]"), "it has 1 words, and 2 labels");
  refuses<Json>(line("[]", "[]"), "it has no words");
  refuses<Json>(line("[1]", "[1]"), "word 1 is no text, but 1");
  refuses<Json>(line("\"a\"", "[1]"), "the field \"tokens\" is no list, but \"a\"");
  refuses<Json>("{\"tokens\": [\"a\"]}", "it has no field \"tags\"");
  refuses<Json>("[1]", "it is no object, but [1]");
  refuses<Json>("PAR1....PAR1", "In Parquet each row must have \"tokens\", a list of words");
  refuses<Json>("{", "it is not JSON");
  for (const char* bad : {"[3]", "[-1]", "[1.0]", "[\"O\"]", "[null]"})
    refuses<Json>(line("[\"a\"]", bad), "and not a whole number from 0 to 2");
  refuses<Json>(line("[\"a\"]", "[\"O\"]"), "behind the options of LabelledWords");
  refuses<Named>(line("[\"a\"]", "[1]"), "and not one of the classes O, B-PER, I-PER");
  refuses<Named>(line("[\"a\"]", "[\"B-LOC\"]"), "is B-LOC, and not one of the classes");
  refuses<Columns>("PAR1....PAR1",
                   "it is a Parquet file, and these data are read from lines of text");
  refuses<Columns>("PAR1....PAR1", "FILE > FILE.jsonl. Each line must be a word with columns");
  refuses<Columns>("\na b c O\nd e\n", "line 2 of '");
  refuses<Columns>("a b c O\nd e\n", "its line \"d e\" has 2 columns, and number 4 is asked for");
  refuses<Columns>("a b c X\n", "is X, and not one of the classes O, B-PER, I-PER");
  using Unnumbered = LabelledWords<"tags", "1", {.format = WordFormat::columns}>;
  refuses<Unnumbered>("a O\n", "have numbers from 1, and \"tags\" is none");
}

TEST_CASE("a prompt has the first token of each word") {
  const auto prompt = [](const std::string& text, int context = 16) {
    return labelled_words_prompt(byte_tokenizer(), 258, {context, true}, text);
  };
  const Prompt two = prompt(" Jo \t is ");
  CHECK(shown(two.tokens) == "[Jo is|");
  CHECK(two.words == TokenIds{1, 3});
  CHECK(two.types == TokenIds(7, 0));
  CHECK(contains(refusal([&] { prompt("Jo is", 6); }), "have 7 tokens with their marks"));
  CHECK(contains(refusal([&] { prompt(" \t"); }), "There is no word"));
}

}  // namespace sinter::detail::testing::labelled_words_tests

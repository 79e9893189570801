// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/paired_examples.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "sinter/data/dialogue.hpp"
#include "sinter/data/dialogue_pairs.hpp"
#include "sinter/data/example_source.hpp"
#include "support/batchings.hpp"
#include "support/numbered_examples.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::paired_examples_tests {

static_assert(DialoguePairs<>::context == 256 && DialoguePairs<>::second_context == 256);
static_assert(DialoguePairs<{.text = 100, .label = 20}>::context == 20);
static_assert(DialoguePairs<{.text = 100, .label = 20}>::second_context == 100);

using Turns = std::vector<std::string>;

PairedExamples set_of(PairedForm form) { return {byte_tokenizer(), form}; }

/// Checks a batch of one example: what is read, what is said, and what is predicted.
void check(const HostBatch& batch, const std::string& read, const std::string& said,
           const std::string& predicted) {
  CHECK(batch.ids[0] == tokens(read));
  CHECK(batch.ids[1] == tokens(said));
  CHECK(batch.ids[2] == tokens(predicted));
  CHECK(batch.starts == TokenIds{0, std::int32_t(said.size())});
  CHECK(batch.second_starts == TokenIds{0, std::int32_t(read.size())});
}

/// Pairs whose tokens say which example they are of; some are too long for the limits.
PairedExamples numbered_pairs(int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  PairedExamples set(numbered_tokenizer(), {.text = 40, .label = 24});
  for (int k = 0; k < count; ++k) {
    const std::string number = std::to_string(k) + ":";
    set.add_dialogue(
        Turns{number + std::to_string(random() % 60), number + std::to_string(1 + random() % 30)});
  }
  return set;
}

/// The examples of a batch, by their numbers. They must be the same on both axes.
std::vector<std::int64_t> pairs_of(const HostBatch& batch) {
  std::vector<std::int64_t> numbers;
  REQUIRE(batch.second_starts.size() == batch.starts.size());
  REQUIRE(batch.ids[0].size() == std::size_t(batch.rows_of(1)));
  REQUIRE(batch.ids[1].size() == std::size_t(batch.rows()));
  REQUIRE(batch.ids[2].size() == std::size_t(batch.rows()));
  for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
    const std::int32_t number = batch.ids[2][std::size_t(batch.starts[s])];
    numbers.push_back(number);
    const int end = batch.own_rows(1, int(s)).end;
    for (int row = batch.second_starts[s]; row + 1 < end; ++row)
      REQUIRE(batch.ids[0][std::size_t(row)] == number);
    REQUIRE(batch.ids[0][std::size_t(end) - 1] == (1 << 20) + 1);
  }
  return numbers;
}

int length_of(const TokenIds& starts, std::size_t s) { return starts[s + 1] - starts[s]; }

TEST_CASE("an encoder reads what was said before and its end, a decoder writes the turn") {
  PairedExamples set = set_of({.text = 100, .label = 100});
  set.add_dialogue(Turns{"how", "so", "ah"});
  REQUIRE(set.size() == 2);
  CHECK(set.records() == 1);
  CHECK(set.inputs() == 3);
  CHECK(set.vocabulary() == 258);
  check(batch_of(set, 0), "how>", "<so", "so>");
  check(batch_of(set, 1), "how\nso>", "<ah", "ah>");
  CHECK(set.length(1).context == 7);
  CHECK(set.length(1).label == 3);
  CHECK(set.rows(1) == 3);
}

TEST_CASE("texts keep their last tokens and always the end, replies their first without it") {
  PairedExamples set = set_of({.text = 4, .label = 3});
  set.add_dialogue(Turns{"123", "ab"});
  set.add_dialogue(Turns{"1234", "abc"});
  check(batch_of(set, 0), "123>", "<ab", "ab>");
  check(batch_of(set, 1), "234>", "<ab", "abc");
  const ExampleSet::Figures figures = set.figures();
  CHECK(figures.context_tokens == 8);
  CHECK(figures.label_tokens == 6);
  CHECK(figures.contexts_cut == 1);
  CHECK(figures.labels_cut == 1);
  CHECK(figures.examples_cut == 1);
  CHECK(figures.longest_context == 4);
  CHECK(figures.longest_label == 3);
  PairedExamples least = set_of({.text = 2, .label = 1});
  least.add_dialogue(Turns{"12", "ab"});
  check(batch_of(least, 0), "2>", "<", "a");
}

TEST_CASE("no sequence is empty, and a turn alone is no example") {
  PairedExamples set = set_of({});
  set.add_dialogue(Turns{"alone"});
  set.add_dialogue(Turns{"", "b"});
  set.add_dialogue(Turns{"a", ""});
  set.add_dialogue(Turns{});
  CHECK(set.records() == 4);
  REQUIRE(set.size() == 2);
  check(batch_of(set, 0), ">", "<b", "b>");
  check(batch_of(set, 1), "a>", "<", ">");
  CHECK(set.examples_of(1) == 0);
  CHECK(set.examples_of(2) == 1);
}

TEST_CASE("the history is so many of the newest turns") {
  PairedExamples set = set_of({.history = 2});
  set.add_dialogue(Turns{"a", "b", "c", "d"});
  check(batch_of(set, 2), "b\nc>", "<d", "d>");
}

TEST_CASE("marks are those of the tokenizer, but for a start that the form says") {
  Tokenizer tokenizer = byte_tokenizer();
  tokenizer.special = {{"</s>", 2}, {"<pad>", 3}};
  PairedExamples own(tokenizer, {}), other(tokenizer, {.start = 3});
  for (PairedExamples* set : {&own, &other}) set->add_dialogue(Turns{"ab", "c"});
  CHECK(batch_of(own, 0, 100, 4).ids ==
        std::vector{TokenIds{'a', 'b', 2}, TokenIds{2, 'c', 3, 3}, TokenIds{'c', 2, -1, -1}});
  CHECK(batch_of(other, 0).ids ==
        std::vector{TokenIds{'a', 'b', 2}, TokenIds{3, 'c'}, TokenIds{'c', 2}});
  CHECK(own.vocabulary() == 256);
  CHECK(PairedExamples(tokenizer, {.start = 300}).vocabulary() == 301);
  CHECK(own.hash() != other.hash());
  CHECK(std::ranges::any_of(other.special(), [](const SpecialToken& token) {
    return token.name == "__start__" && token.id == 3;
  }));
}

TEST_CASE("replies are filled up to as many rows, and a shorter batch cuts both in proportion") {
  PairedExamples set = set_of({.text = 20, .label = 10});
  set.add_dialogue(Turns{"0123456789abcdefghi", "012345678"});  // as long as the limits
  const HostBatch batch = batch_of(set, 0, 10, 16);
  CHECK(batch.rows() == 16);
  CHECK(batch.rows_of(1) == 20);
  CHECK(batch.all_rows() == 36);
  CHECK(batch.ids[1].back() == 0);
  CHECK(batch.ids[2].back() == -1);
  CHECK(batch.examples ==
        ExampleCounts{
            .context = 20, .label = 10, .padding = 6, .full_context = 20, .full_label = 10});
  check(batch_of(set, 0, 5), "abcdefghi>", "<0123", "01234");
  check(batch_of(set, 0, 1), "i>", "<", "0");
  CHECK(batch_of(set, 0, 9).examples == ExampleCounts{.context = 18,
                                                      .label = 9,
                                                      .truncated = 1,
                                                      .full_context = 20,
                                                      .full_label = 10,
                                                      .contexts_cut = 1,
                                                      .labels_cut = 1});
  PairedExamples longer = set_of({.text = 3, .label = 10});  // of 3 rows in 10, rounded up
  longer.add_dialogue(Turns{"01", "0"});
  check(batch_of(longer, 0, 7), "01>", "<0", "0>");
  check(batch_of(longer, 0, 4), "1>", "<0", "0>");
  check(batch_of(longer, 0, 2), ">", "<0", "0>");
}

TEST_CASE("each epoch has each pair exactly once, however batches are made, and goes on") {
  for (int count : {1, 37, 500}) {
    const PairedExamples set = numbered_pairs(count, 7);
    for (const Batching& batching : all_batchings(16)) {
      CAPTURE(batching.order);
      const ExampleBatchOptions options{.sequences = 16, .seed = 3, .batching = batching};
      ExampleBatches source(set, {0, count}, options), resumed(set, {0, count}, options);
      std::vector<std::int64_t> order;
      HostBatch batch, again;
      while (std::int64_t(order.size()) < 2 * count) {
        if (source.state().epoch == 1)
          resumed.restore(SamplerState::from_fields(source.state().to_fields()));
        REQUIRE(source.next(batch));
        if (source.state().epoch == 1 && resumed.next(again) && order.size() >= std::size_t(count))
          REQUIRE((again.ids == batch.ids && again.second_starts == batch.second_starts &&
                   again.starts == batch.starts));
        const std::vector<std::int64_t> numbers = pairs_of(batch);
        order.insert(order.end(), numbers.begin(), numbers.end());
      }
      std::vector<std::int64_t> all(static_cast<std::size_t>(count));
      std::iota(all.begin(), all.end(), 0);
      for (int epoch = 0; epoch < 2; ++epoch) {
        const auto first = order.begin() + epoch * count;
        std::vector<std::int64_t> sorted(first, first + count);
        std::sort(sorted.begin(), sorted.end());
        REQUIRE(sorted == all);
      }
    }
  }
}

TEST_CASE("pairs that are computed together are padded to a multiple of 8, by axis") {
  const PairedExamples set = numbered_pairs(200, 8);
  for (const Batching& batching : all_batchings(16)) {
    CAPTURE(batching.order);
    ExampleBatches source(set, {0, 200}, {.sequences = 16, .batching = batching});
    const double said = source.padding();
    std::int64_t rows = 0, padding = 0;
    HostBatch batch;
    while (source.state().epoch == 0) {
      source.next(batch);
      const std::vector<std::int64_t> numbers = pairs_of(batch);
      const auto together =
          std::size_t(batching.padded_together > 0 ? batching.padded_together : batch.sequences());
      for (std::size_t s = 0; s < numbers.size(); ++s) {
        const std::size_t first = s / together * together;
        int longest = 0, second = 0;
        for (std::size_t k = first; k < std::min(first + together, numbers.size()); ++k) {
          longest = std::max(longest, set.rows(numbers[k]));
          second = std::max(second, set.length(numbers[k]).context);
        }
        const ExampleLength own = set.length(numbers[s]);
        REQUIRE(length_of(batch.starts, s) == (batching.pads ? padded_to_8(longest) : own.label));
        REQUIRE(length_of(batch.second_starts, s) ==
                (batching.pads ? padded_to_8(second) : own.context));
        REQUIRE(batch.own_rows(1, int(s)).count() == own.context);
        for (int row = batch.own_rows(1, int(s)).end; row < batch.second_starts[s + 1]; ++row)
          REQUIRE(batch.ids[0][std::size_t(row)] == 0);
      }
      REQUIRE(batch.second_lengths.empty() == !batching.pads);
      if (source.state().epoch > 0 && source.state().position > 0) continue;  // of two epochs
      rows += batch.all_rows();
      padding += batch.examples->padding;
    }
    if (batching.arrange) CHECK(said == doctest::Approx(double(padding) / double(rows)));
    if (!batching.pads) CHECK((said == 0 && padding == 0));
  }
}

TEST_CASE("texts are padded to no more than a text may have") {
  PairedExamples set = set_of({.text = 13, .label = 10});
  set.add_dialogue(Turns{"a text that is cut", "b"});
  set.add_dialogue(Turns{"", "b"});
  ExampleBatches source(set, {0, 2}, {.sequences = 2, .batching = Padded::batching(2)});
  HostBatch batch;
  source.next(batch);
  CHECK(batch.second_starts == TokenIds{0, 13, 26});
  CHECK(batch.second_lengths[0] + batch.second_lengths[1] == 13 + 1);
  CHECK(batch.examples == ExampleCounts{.context = 14,
                                        .label = 4,
                                        .padding = 12 + 12,
                                        .truncated = 1,
                                        .full_context = 18 + 1 + 1,
                                        .full_label = 4,
                                        .contexts_cut = 1});
}

/// Pairs that do not say how to pad what the encoder reads.
class OnlyReplies final : public ExampleList {
  const PairedExamples& set;

 public:
  explicit OnlyReplies(const PairedExamples& pairs) : set(pairs) {}
  std::int64_t size() const override { return set.size(); }
  std::int64_t records() const override { return set.records(); }
  std::int64_t examples_of(std::int64_t count) const override { return set.examples_of(count); }
  int inputs() const override { return set.inputs(); }
  int max_rows() const override { return set.max_rows(); }
  int max_second_rows() const override { return set.max_second_rows(); }
  ExampleLength length(std::int64_t number) const override { return set.length(number); }
  int rows(std::int64_t number) const override { return set.rows(number); }
  void append(HostBatch& batch, std::int64_t number, int most, int padded) const override {
    set.append(batch, number, most, padded);
  }
  std::vector<SpecialToken> special() const override { return set.special(); }
  std::uint64_t hash() const override { return set.hash(); }
};

TEST_CASE("a list that cannot pad axis 1 is refused where a batching pads, and else taken") {
  const PairedExamples pairs = numbered_pairs(20, 5);
  const OnlyReplies set(pairs);
  HostBatch batch;
  ExampleBatches(set, {0, 20}, {.sequences = 4}).next(batch);
  CHECK(batch.sequences() == 4);
  CHECK(set.second_rows(3, 24) == pairs.second_rows(3, 24));
  ExampleBatches padded(set, {0, 20}, {.sequences = 4, .batching = Padded::batching(4)});
  check_refused<Error>([&] { padded.next(batch); }, "append_second_padding()");
}

TEST_CASE("batches grow and are cut on both axes as the recipe's shapes say") {
  const PairedExamples set = numbered_pairs(100, 9);
  const BatchShapes shapes = [](std::uint64_t items) {
    return items < 20 ? BatchShape{4, 6} : BatchShape{16, 24};
  };
  for (const Batching& batching : all_batchings(16)) {
    ExampleBatches source(set, {0, 100}, {.sequences = 16, .shapes = shapes, .batching = batching});
    HostBatch batch;
    int longest = 0;
    for (int k = 0; k < 30; ++k) {
      const bool is_short = source.state().items < 20;
      source.next(batch);
      pairs_of(batch);
      for (std::size_t s = 0; s + 1 < batch.starts.size(); ++s) {
        REQUIRE(length_of(batch.starts, s) <= (is_short ? 6 : 24));
        REQUIRE(length_of(batch.second_starts, s) <= (is_short ? 10 : 40));
        longest = std::max(longest, length_of(batch.second_starts, s));
      }
    }
    CHECK(longest == 40);
  }
}

TEST_CASE("evaluation gives each pair once, in order, whole and without padding") {
  const PairedExamples set = numbered_pairs(10, 5);
  EvaluationExamples source(set, {1, 9}, 4);
  HostBatch batch;
  std::vector<std::int64_t> order;
  while (source.next(batch)) {
    for (std::int64_t number : pairs_of(batch)) order.push_back(number);
    CHECK(batch.examples->padding == 0);
  }
  CHECK(order == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK((batch.rows() == 0 && batch.second_starts.empty()));
}

TEST_CASE("a state of other pairs, of other limits or of one sequence is refused") {
  const std::vector<Turns> dialogues{{"a", "b"}, {"c", "d", "e"}};
  auto filled = [&](auto set) {
    for (const Turns& turns : dialogues) set.add_dialogue(turns);
    return set;
  };
  auto state = [](const ExampleList& set) {
    return ExampleBatches(set, {0, set.size()}, {.sequences = 2}).state();
  };
  const PairedExamples set = filled(set_of({.text = 20, .label = 10}));
  ExampleBatches source(set, {0, 3}, {.sequences = 2});
  auto refuses = [&](const SamplerState& other, const std::string& says) {
    check_refused<ArgumentError>([&] { source.restore(other); }, says);
  };
  source.restore(state(set));
  ExampleBatches padded(set, {0, 3}, {.sequences = 2, .batching = Padded::batching(2)});
  check_refused<ArgumentError>([&] { padded.restore(state(set)); },  // of an older version
                               "is shuffled examples, padded on both axes");
  refuses(state(filled(set_of({.text = 21, .label = 10}))), "the context was 31");
  for (const PairedForm& form :
       {PairedForm{10, 20}, PairedForm{20, 10, 1}, PairedForm{20, 10, 0, 1}})
    refuses(state(filled(set_of(form))), "the hash");
  refuses(state(filled(ExampleSet(byte_tokenizer(), {.context = 20, .label = 10}))), "the hash");
}

TEST_CASE("forms that cannot be, and batches of too many rows on either axis are refused") {
  for (const PairedForm& form : {PairedForm{.text = 1}, PairedForm{.label = 0},
                                 PairedForm{.history = -1}, PairedForm{.start = -2}})
    CHECK_THROWS_AS(set_of(form), ArgumentError);
  for (const PairedForm& form : {PairedForm{1 << 24, 1}, PairedForm{2, 1 << 24}}) {
    PairedExamples set = set_of(form);
    set.add_dialogue(Turns{"a", "b"});
    ExampleBatches(set, {0, 1}, {.sequences = 127});
    check_refused<ArgumentError>([&] { ExampleBatches(set, {0, 1}, {.sequences = 128}); },
                                 "of up to 16777216 rows");
  }
}

TEST_CASE("a prompt is what training shows before a reply, with any tokenizer") {
  const Turns turns{"Where to?", "", "San Jose, \xc3\xa9", "  When?"};
  for (const Tokenizer& tokenizer :
       {byte_tokenizer(), reference_tokenizer("qwen2"), reference_tokenizer("llama2")})
    for (const PairedForm& form :
         {PairedForm{100, 9}, PairedForm{5, 9, 2}, PairedForm{.label = 9, .start = 7}}) {
      PairedExamples set(tokenizer, form);
      set.add_dialogue(turns);
      REQUIRE(set.size() == 3);
      std::string lines;
      for (int k = 0; k < 3; ++k) {
        lines += (k > 0 ? "\n" : "") + turns[std::size_t(k)];
        const Prompt prompt = paired_prompt(tokenizer, form, turns_of_lines(lines));
        const HostBatch batch = batch_of(set, k);
        CHECK(prompt.tokens == batch.ids[0]);
        CHECK(prompt.decoder == TokenIds{batch.ids[1].front()});
        CHECK(prompt.end == marks_of(tokenizer).end);
        CHECK(prompt.tokens.back() == prompt.end);
        CHECK(prompt.reply == 9);
      }
    }
  CHECK(DialoguePairs<>::prompt({}, byte_tokenizer(), "ab\nc").tokens == tokens("ab\nc>"));
  CHECK(DialoguePairs<>::prompt({.start = 5}, byte_tokenizer(), "").decoder == TokenIds{5});
  CHECK(Dialogue<>::prompt({}, byte_tokenizer(), "ab").decoder.empty());
  check_refused<ArgumentError>(
      [] { DialoguePairs<>::prompt({.vocabulary = 400}, byte_tokenizer(), ""); },
      "Give --tokenizer PATH");
}

TEST_CASE("the assistant's last message of a conversation is a reply to all before it") {
  TemporaryFolder folder;
  const auto open = [&](const DialoguePairsOptions& options, const std::string& lines) {
    return DialoguePairs<>::open(options, {.paths = {put(folder / "a.jsonl", lines)}});
  };
  std::string chat =
      R"({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"},
 {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"},
 {"role": "assistant", "content": "d"}, {"role": "user", "content": "e"}], "tools": [1]})";
  std::erase(chat, '\n');
  OpenedData opened = open({}, chat + "\n" + R"({"instruction": "i", "output": "o"})" + "\n" +
                                   R"({"turns": [["A", "t"], ["B", "u"]]})" + "\n");
  CHECK(contains(opened.text, "3 examples of 3 dialogues in 1 file"));
  CHECK(contains(opened.notes, "in 1 dialogue, \"tools\" is not read"));
  for (const auto& [context, reply] : {std::pair{"s\na\nb\nc", "d"}, {"i", "o"}, {"t", "u"}}) {
    HostBatch batch;
    REQUIRE(opened.evaluation->next(batch));
    check(batch, context + std::string(">"), "<" + std::string(reply), reply + std::string(">"));
  }
  opened = open({.history = 2}, chat + "\n");
  HostBatch batch;
  REQUIRE(opened.evaluation->next(batch));
  check(batch, "b\nc>", "<d", "d>");
  check_refused(
      [&] {
        open({}, R"({"messages": [{"role": "assistant", "content": "b"}]})" + std::string("\n"));
      },
      "it has no message of the assistant with another before it, so that there is no reply. Each "
      "line must be an object with \"turns\"");
}

TEST_CASE("files of dialogues are opened as pairs, in bytes and in tokens") {
  TemporaryFolder folder;
  const std::string file =
      put(folder / "a.jsonl", R"({"id": 1, "turns": [["A", "hi"], ["B", "yes"], ["A", "no"]]}
{"turns": [["A", "alone"]]}
no
)");
  const DialoguePairsOptions bytes{.text = 5, .label = 3, .bad = skip};
  OpenedData opened = DialoguePairs<>::open(bytes, {.paths = {file}});
  CHECK(contains(opened.text, "2 examples of 2 dialogues in 1 file"));
  CHECK(
      contains(opened.text, "context 4.0 tokens (at most 5), label 3.0 (at most 3); 100.00 % are"));
  CHECK(contains(opened.notes, "left out of the data: 1 dialogue"));
  CHECK(opened.evaluation_size == 6);
  HostBatch batch;
  REQUIRE(opened.evaluation->next(batch));
  check(batch, "hi>", "<ye", "yes");
  REQUIRE(opened.evaluation->next(batch));
  check(batch, "\nyes>", "<no", "no>");
  const std::string llama = references / "llama2.json";
  const Tokenizer tokenizer = load_tokenizer(llama);
  const int vocabulary = marks_of(tokenizer).vocabulary(tokenizer);
  opened = DialoguePairs<>::open({.vocabulary = vocabulary, .bad = skip},
                                 {.paths = {file}, .tokenizer = llama});
  REQUIRE(opened.evaluation->next(batch));
  TokenIds read = tokenizer.encode("hi"), said = tokenizer.encode("yes"), predicted = said;
  read.push_back(2);
  said.insert(said.begin(), 2);
  predicted.push_back(2);
  CHECK(batch.ids == std::vector{read, said, predicted});
}

}  // namespace sinter::detail::testing::paired_examples_tests

// SPDX-License-Identifier: Apache-2.0
#include "sinter/data/labelled_text.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "sinter/model/bert.hpp"
#include "sinter/model/distilbert.hpp"
#include "sinter/recipe/plan.hpp"
#include "support/pooled_model.hpp"
#include "unit/data/support.hpp"

namespace sinter::detail::testing::labelled_text_tests {

// What models it fits; tests/reject/data.cpp has those that it does not.
constexpr LabelledTextOptions short_texts{.context = 16};
struct own : Recipe<Pooled<3>, LabelledText<"label", "a", "b", short_texts>> {};
struct distilled : Recipe<DistilBert<{.layers = 1,
                                      .heads = 2,
                                      .width = 16,
                                      .hidden = 16,
                                      .vocabulary = 258,
                                      .positions = 16,
                                      .labels = 2}>,
                          LabelledText<"label", "a", "b", short_texts>> {};
constexpr BertOptions small{.layers = 1,
                            .heads = 2,
                            .width = 16,
                            .hidden = 16,
                            .vocabulary = 258,
                            .positions = 16,
                            .labels = 2};
struct sentences : Recipe<Bert<small>, LabelledText<"label", "a", "", short_texts>> {};
static_assert(ready<own>() && ready<distilled>() && ready<sentences>());

using Numbers = std::vector<std::int32_t>;

/// All that is read, as text: '[' and '|' are marks, a class stands behind its sequence, and a type
/// before each token where there are types.
template <class Policy>
std::string shown(const std::string& table, std::string* notes = nullptr) {
  TemporaryFolder folder;
  OpenedData data = opened<Policy>(put(folder / "table", table));
  if (notes) *notes = data.notes;
  HostBatch batch;
  std::string text;
  while (data.evaluation->next(batch)) {
    REQUIRE(batch.sequences() == 1);
    REQUIRE(batch.ids.back().size() == 1);
    for (std::size_t row = 0; row < batch.ids[0].size(); ++row) {
      const std::int32_t id = batch.ids[0][row];
      if (Policy::types) text += std::to_string(batch.ids[1][row]);
      text += id == 256 ? '[' : id == 257 ? '|' : char(id);
    }
    text += std::to_string(batch.ids.back()[0]) + " ";
  }
  return text;
}

template <class Policy>
void refuses(const std::string& table, const std::string& says) {
  check_refused([&] { shown<Policy>(table); }, says);
}

using Tsv = LabelledText<"label", "text">;
using Csv = LabelledText<"label", "text", "", {.classes = 11, .format = TextFormat::csv}>;
using Json = LabelledText<"label", "text", "", {.format = TextFormat::json_lines}>;
using Numbered = LabelledText<"2", "1", "", {.header = false}>;
using Pairs = LabelledText<"label", "a", "b", {.types = true}>;
using JsonPairs = LabelledText<"label", "a", "b",
                               {.classes = 3, .types = true, .format = TextFormat::json_lines}>;
using Skipping = LabelledText<"label", "text", "", {.bad = skip, .bad_limit = 2}>;

TEST_CASE("sentences and their classes are read from TSV, CSV and JSON lines") {
  CHECK(shown<Tsv>("label\tid\ttext\n1\tx\tgood\n0\ty\t\n") == "[good|1 [|0 ");
  CHECK(shown<Csv>("text,label\n\"well, \"\"so\"\"\",10\r\nbad,0\n") == "[well, \"so\"|10 [bad|0 ");
  CHECK(shown<Json>("{\"label\": 1, \"text\": \"good\", \"id\": 7}\n\n"
                    "{\"text\": \"b\\u00e9\", \"label\": 0}") == "[good|1 [b\xc3\xa9|0 ");
  CHECK(shown<Numbered>("good\t1\nbad\t0\n") == "[good|1 [bad|0 ");
}

TEST_CASE("pairs have their types from tables and JSON lines alike") {
  CHECK(shown<Pairs>("a\tb\tlabel\np\tqr\t1\n\ts\t0\n") == "0[0p0|1q1r1|1 0[0|1s1|0 ");
  CHECK(shown<JsonPairs>("{\"a\": \"p\", \"b\": \"qr\", \"label\": 2}\n") == "0[0p0|1q1r1|2 ");
  using Untyped = LabelledText<"label", "a", "b", {.context = 4}>;
  CHECK(shown<Untyped>("a\tb\tlabel\np\tqr\t1\n") == "[|q|1 ");
  CHECK(Tsv::text() == "label, text");
  CHECK(Pairs::text() == "label, a, b");
}

TEST_CASE("a label that is no class is an error with file, line and what is expected") {
  const std::string whole = "and not a whole number from 0 to 1";
  refuses<Tsv>("text\tlabel\na\t1\nb\tpos\n", "line 3 of '");
  refuses<Tsv>("text\tlabel\na\tpos\n", "its label \"label\" is pos, " + whole);
  refuses<Tsv>("text\tlabel\na\t2\n", "is 2, " + whole);
  refuses<Tsv>("text\tlabel\na\t-1\n", "is -1, " + whole);
  refuses<Tsv>("text\tlabel\na\t1.0\n", "is 1.0, " + whole);
  refuses<Tsv>("text\tlabel\na\t 1\n", "is  1, " + whole);
  refuses<Tsv>("text\tlabel\na\t\n", "is empty, " + whole);
  refuses<Tsv>("text\tlabel\na\t99999999999\n", "is 99999999999, " + whole);
  refuses<Tsv>("text\tlabel\na\tb\n",
               "with tabs between, and in the column \"label\" a whole number from 0 to 1.");
  refuses<Csv>("text,label\na,11\n", "is 11, and not a whole number from 0 to 10");
  const std::string expected =
      "Each line must be an object with the field \"text\", a text, and \"label\", a whole number "
      "from 0 to 1.";
  for (const char* bad : {"\"1\"", "1.0", "true", "null", "-1", "2", "[1]"}) {
    const std::string lines = "\n{\"text\": \"a\", \"label\": " + std::string(bad) + "}\n";
    refuses<Json>(lines, "line 2 of '");
    refuses<Json>(lines, "its label \"label\" is " + std::string(bad) + ", " + whole);
    refuses<Json>(lines, expected);
  }
  refuses<Json>("{\"text\": \"a\"}\n", "it has no field \"label\"");
  refuses<Json>("{\"text\": 1, \"label\": 1}\n", "the field \"text\" is no text, but 1");
  refuses<JsonPairs>("{\"a\": \"\", \"label\": 1}\n", "it has no field \"b\"");
  refuses<JsonPairs>("{}", "with the fields \"a\" and \"b\", texts, and \"label\"");
}

/// The numbers of all labels, with a blank behind each and a bar behind each sequence.
template <class Policy>
std::string numbers(const std::string& table) {
  TemporaryFolder folder;
  OpenedData data = opened<Policy>(put(folder / "table", table));
  HostBatch batch;
  std::string text;
  while (data.evaluation->next(batch)) {
    CHECK(batch.ids.size() == 1);
    REQUIRE(batch.values.size() == 1);
    CHECK(batch.values[0].size() == std::size_t(Policy::classes));
    CHECK(batch.examples->label == Policy::classes);
    for (float number : batch.values[0]) text += std::to_string(number).substr(0, 4) + " ";
    text += "|";
  }
  return text;
}
template <class Policy>
void refuses_numbers(const std::string& table, const std::string& says) {
  check_refused([&] { numbers<Policy>(table); }, says);
}

TEST_CASE("a label may be a number, or several") {
  using Score = LabelledText<"score", "text", "", {.classes = 1, .label_kind = LabelKind::numbers}>;
  using Pair = LabelledText<"score", "a", "b", {.classes = 2, .label_kind = LabelKind::numbers}>;
  using Lines = LabelledText<
      "score", "text", "",
      {.classes = 2, .label_kind = LabelKind::numbers, .format = TextFormat::json_lines}>;
  using Line = LabelledText<
      "score", "text", "",
      {.classes = 1, .label_kind = LabelKind::numbers, .format = TextFormat::json_lines}>;
  CHECK(numbers<Score>("score\ttext\n3.25\ta\n-1e1\tb\n0\t\n") == "3.25 |-10. |0.00 |");
  CHECK(numbers<Pair>("score\ta\tb\n1 -2\tx\ty\n") == "1.00 -2.0 |");
  CHECK(numbers<Lines>("{\"score\": [1, 2.5], \"text\": \"\"}\n") == "1.00 2.50 |");
  CHECK(numbers<Line>("{\"score\": 4, \"text\": \"\"}\n{\"score\": [5], \"text\": \"\"}") ==
        "4.00 |5.00 |");
  CHECK(Score::unit.many == "numbers");
  for (const char* bad : {"", "x", "1x", "1 2", "inf", "nan", "1e99", "+", "+-1", "1,5"}) {
    CAPTURE(bad);
    refuses_numbers<Score>("score\ttext\n" + std::string(bad) + "\ta\n", "and not a number");
  }
  for (const char* good : {"1", " 1", "1 ", "+1", "1.0", "1e0"}) {
    CAPTURE(good);
    CHECK(numbers<Score>("score\ttext\n" + std::string(good) + "\ta\n") == "1.00 |");
  }
  for (const char* bad : {"[1]", "[1, 2, 3]", "1", "[1, \"2\"]", "null", "[1, 1e99]", "[[1], 2]"}) {
    CAPTURE(bad);
    refuses_numbers<Lines>("{\"score\": " + std::string(bad) + ", \"text\": \"\"}\n",
                           "and not 2 numbers");
  }
}

TEST_CASE("a label may be a list of classes, or an answer for each class") {
  constexpr LabelledTextOptions several{
      .classes = 3, .label_kind = LabelKind::several_classes, .format = TextFormat::json_lines};
  using Ids = LabelledText<"of", "text", "", several>;
  using Named = LabelledText<"of", "text", "", several, "art, law, sport">;
  using Two = LabelledText<
      "of", "text", "",
      {.classes = 2, .label_kind = LabelKind::several_classes, .format = TextFormat::json_lines}>;
  using One = LabelledText<
      "of", "text", "",
      {.classes = 1, .label_kind = LabelKind::several_classes, .format = TextFormat::json_lines}>;
  const auto line = [](const std::string& label) {
    return "{\"of\": " + label + ", \"text\": \"a\"}\n";
  };
  for (const char* label : {"[2, 0]", "[1, 0, 1]", "[1.0, 0.0, 1.0]", "[true, false, true]"})
    CHECK(numbers<Ids>(line(label)) == "1.00 0.00 1.00 |");
  CHECK(numbers<Ids>(line("[]")) == "0.00 0.00 0.00 |");
  CHECK(numbers<Ids>(line("[0, 2, 1]")) == "1.00 1.00 1.00 |");
  for (const char* label : {"[\"sport\", \"art\"]", "[true, false, true]"})
    CHECK(numbers<Named>(line(label)) == "1.00 0.00 1.00 |");
  for (const char* label : {"[1.0, 0.0]", "[true, false]", "[0]"})
    CHECK(numbers<Two>(line(label)) == "1.00 0.00 |");
  CHECK(numbers<One>(line("[true]") + line("[]")) == "1.00 |0.00 |");
  CHECK(Ids::unit.many == "answers");
  for (const char* bad : {"1", "\"art\"", "[3]", "[-1]", "[0, 0]", "[0.5, 0.0, 1.0]", "[1.0]",
                          "[null]", "[true, false]", "{\"0\": 1}"}) {
    CAPTURE(bad);
    refuses_numbers<Ids>(line(bad),
                         "and not a list of its classes, each a whole number from 0 to 2");
  }
  for (const std::string both : {"[1, 0]", "[0, 1]", "[1, 1]", "[0, 0]"})
    refuses_numbers<Two>(line(both),
                         "its label \"of\" is [" + both.substr(1, 1) + "," + both.substr(4, 1) +
                             "], and of two classes numbers look like answers of 0 and "
                             "1. Write true or false for each class, as in [true, false]");
  refuses_numbers<Two>(line("[2]"), "and not a list of its classes, each a whole number");
  for (const char* one : {"[0]", "[1]"})
    refuses_numbers<One>(line(one), "and of one class numbers look like answers of 0 and 1");
  refuses_numbers<One>(line("[2]"), "and not a list of one answer: true or false, 1.0 or 0.0");
  refuses_numbers<Named>(line("[\"chess\"]"), "each one of art, law, sport");
  refuses_numbers<Named>(line("[1]"), "is no text, but 1");
}

TEST_CASE("labels that are words are the classes that the recipe names, in its order") {
  using Named = LabelledText<"label", "text", "", {.classes = 3}, "negative, positive,so so">;
  using NamedJson = LabelledText<"label", "text", "", {.format = TextFormat::json_lines}, "no,yes">;
  CHECK(shown<Named>("label\ttext\npositive\tgood\nso so\tx\nnegative\tbad\n") ==
        "[good|1 [x|2 [bad|0 ");
  CHECK(shown<NamedJson>("{\"label\": \"yes\", \"text\": \"a\"}\n") == "[a|1 ");
  CHECK(Named::class_names == "negative, positive,so so");
  const std::string expected = "one of the classes negative, positive, so so";
  refuses<Named>("label\ttext\nPositive\ta\n",
                 "its label \"label\" is Positive, and not " + expected);
  refuses<Named>("label\ttext\n1\ta\n", "is 1, and not " + expected);
  refuses<NamedJson>("{\"label\": 1, \"text\": \"a\"}\n", "the label is no text, but 1");
  refuses<Tsv>("text\tlabel\na\tpos\n",
               "If labels are words, name them in their order behind the options of LabelledText");
  using Twice = LabelledText<"label", "text", "", {}, "a, a">;
  CHECK(contains(message_of<ArgumentError>([] { shown<Twice>("label\ttext\na\tb\n"); }),
                 "one is empty or comes twice"));
}

TEST_CASE(
    "fields may have semicolons between, and a table with another separator is told its option") {
  using Semicolons = LabelledText<"label", "text", "", {.format = TextFormat::csv_semicolons}>;
  CHECK(shown<Semicolons>("text;label\n\"a; \"\"b\"\"\";1\n1,5;0\n") == "[a; \"b\"|1 [1,5|0 ");
  refuses<Tsv>("text,label\na,1\n",
               "With commas between its fields it fits: give the recipe's data .format = "
               "TextFormat::csv. Each row must");
  refuses<Tsv>("text;label\na;1\n", ".format = TextFormat::csv_semicolons");
  refuses<Csv>("text\tlabel\na\t1\n", ".format = TextFormat::tsv");
  refuses<Numbered>("a,1\n",
                    "number 2 is asked for. With commas between its fields it fits: give the "
                    "recipe's data .format = TextFormat::csv.");
}

TEST_CASE("tables without these columns, and damaged Parquet, are refused") {
  refuses<Tsv>("text\tclass\na\t1\n", "names the column \"label\" nowhere; it names text, class");
  refuses<Tsv>("text\tlabel\na\n", "it has 1 fields, and the first line has 2");
  refuses<Numbered>("alone\n", "it has 1 fields, and number 2 is asked for");
  refuses<Tsv>("text\tlabel\n", "holds no examples");
  refuses<Tsv>("PAR1....PAR1",
               "In Parquet the texts must be columns of text (string, large_string or a "
               "dictionary of them), and the column \"label\" ");
}

TEST_CASE("bad records are left out where the recipe says so, up to its limit") {
  std::string notes;
  CHECK(shown<Skipping>("text\tlabel\na\tx\nb\t1\nc\n", &notes) == "[b|1 ");
  CHECK(contains(notes, "left out of the data: 2 rows (line 2 of '"));
  refuses<Skipping>("text\tlabel\na\tx\nb\t1\nc\nd\t7\n", "more than 2 rows are bad");
}

TEST_CASE("fewer records than can be held out of are refused, and what takes them is named") {
  TemporaryFolder folder;
  DataRequest request{.paths = {put(folder / "a.tsv", "text\tlabel\na\t1\nb\t0\nc\t1\n")},
                      .evaluation_sequences = 4};
  request.training = DataRequest::Training{.held_out = 0.1, .sequences = 2, .shapes = {}};
  check_refused<ArgumentError>([&] { Tsv::open(Tsv::options, request); },
                               "Give more data, or hold nothing out: --order sequential.");
  request.training->order = Order::sequential;
  request.training->held_out = 0;
  CHECK(Tsv::open(Tsv::options, request).training->state().data_size == 3);
}

TEST_CASE("the last records are held out, and the header says what was read") {
  TemporaryFolder folder;
  std::string table = "text\tlabel\n";
  for (int k = 0; k < 20; ++k)
    table += std::string(std::size_t(k), 'x') + "\t" + (k % 4 ? "1\n" : "0\n");
  using Short = LabelledText<"label", "text", "", {.context = 12}>;
  DataRequest request{.paths = {put(folder / "a.tsv", table)}, .evaluation_sequences = 4};
  request.training = DataRequest::Training{
      .order = Order::sequential, .held_out = 0.1, .sequences = 6, .shapes = {}};
  OpenedData data = Short::open(Short::options, request);
  // 2 + k tokens, 12 at most: 2 + … + 12, and 9 times 12; those of k > 10 are cut.
  CHECK(data.text.find("20 examples of 20 rows in 1 file, the last 2 held out for validation\n"
                       "        9.2 tokens (at most 12); 45.00 % are cut; classes 0: 25.0 %, "
                       "1: 75.0 %; padding 0.0 % of the rows") != data.text.npos);
  CAPTURE(data.text);
  CHECK(data.evaluation_size == 2);
  CHECK(data.training->state().order == "sequential examples");
  CHECK(data.training->state().data_size == 18);
  HostBatch batch;
  REQUIRE(data.evaluation->next(batch));
  CHECK(batch.starts == Numbers{0, 12, 24});
  CHECK(batch.ids[1] == Numbers{1, 1});
  REQUIRE(data.training->next(batch));
  CHECK(batch.starts == Numbers{0, 2, 5, 9, 14, 20, 27});
  CHECK(batch.ids[1] == Numbers{0, 1, 1, 1, 0, 1});
  CHECK(data.changed().empty());
}

TEST_CASE("a text is tokens of the tokenizer that is named, which must fit the vocabulary") {
  TemporaryFolder folder;
  const std::string vocabulary =
      put(folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ngood\n##s\n");
  const std::string table = put(folder / "a.tsv", "text\tlabel\nGoods good\t1\n");
  DataRequest request{.paths = {table}, .tokenizer = vocabulary};
  using Words = LabelledText<"label", "text", "", {.vocabulary = 7}>;
  OpenedData data = Words::open(Words::options, request);
  HostBatch batch;
  REQUIRE(data.evaluation->next(batch));
  CHECK(batch.ids == std::vector<Numbers>{{2, 5, 6, 5, 3}, {1}});
  CHECK(Words::prompt(Words::options, load_tokenizer(vocabulary), "good").tokens ==
        Numbers{2, 5, 3});
  using Fewer = LabelledText<"label", "text", "", {.vocabulary = 6}>;
  CHECK_THROWS_AS(Fewer::open(Fewer::options, request), ArgumentError);
  CHECK_THROWS_AS(Words::open(Words::options, {.paths = {table}}), ArgumentError);
}

namespace {

/// Number of sequences, of their tokens, of those that are cut, of those of class 1, and a hash.
using Figures = std::array<std::uint64_t, 5>;

template <class Policy>
Figures figures_of(const std::string& path, const fs::path& vocabulary) {
  OpenedData data =
      Policy::open(Policy::options, {.paths = {path}, .tokenizer = vocabulary.string()});
  Figures figures{};
  auto& [sequences, tokens, cut, ones, digest] = figures;
  HostBatch batch;
  while (data.evaluation->next(batch)) {
    REQUIRE(batch.sequences() == 1);
    ++sequences;
    tokens += batch.ids[0].size();
    cut += std::uint64_t(batch.examples->truncated);
    ones += std::uint64_t(batch.ids[2].at(0));
    for (const Numbers& ids : batch.ids)
      for (std::int32_t id : ids) digest = digest * 31 + std::uint64_t(id);
  }
  return figures;
}

}  // namespace

TEST_CASE("real sentences and pairs of them are the ids, types and classes of transformers") {
  const fs::path file = fs::path(SINTER_TEST_DATA) / "sst2/dev.tsv",
                 vocabulary = fs::path(SINTER_TEST_DATA) / "bert_vocab/vocab.txt";
  if (!fs::exists(file) || !fs::exists(vocabulary)) {
    MESSAGE("skipped: " << file.string() << " or " << vocabulary.string() << " is not there");
    return;
  }
  // tests/support/labelled_in_tokens.py prints these figures.
  using Long = LabelledText<"2", "1", "",
                            {.context = 64, .vocabulary = 30522, .types = true, .header = false}>;
  CHECK(figures_of<Long>(file.string(), vocabulary) ==
        Figures{872, 20599, 0, 444, 3216812248799414491u});
  using Short = LabelledText<"2", "1", "",
                             {.context = 12, .vocabulary = 30522, .types = true, .header = false}>;
  CHECK(figures_of<Short>(file.string(), vocabulary) ==
        Figures{872, 10125, 743, 444, 1853250445941407873u});
  TemporaryFolder folder;
  std::ifstream lines(file);
  std::string table, before;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find('\t');
    if (before.empty()) before = line.substr(0, tab);
    table += line.substr(0, tab) + "\t" + before + line.substr(tab) + "\n";
    before = line.substr(0, tab);
  }
  using Both = LabelledText<"3", "1", "2",
                            {.context = 40, .vocabulary = 30522, .types = true, .header = false}>;
  CHECK(figures_of<Both>(put(folder / "pairs.tsv", table), vocabulary) ==
        Figures{872, 32246, 560, 444, 3753494346777974185u});
}

}  // namespace sinter::detail::testing::labelled_text_tests

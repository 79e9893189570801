// SPDX-License-Identifier: Apache-2.0
// Recipes with data policies of their own: recipes/table.cpp has rows, recipes/digits.cpp tokens.
#include <cmath>
#include <numbers>

#include "binary/support.hpp"

namespace sinter::detail::testing::own_data_tests {

/// Lines of two numbers and their sum: rows begin … begin + count - 1 of one endless table.
std::string some_rows(int count, int begin = 0) {
  std::string text;
  for (int row = begin; row < begin + count; ++row) {
    const int a = row * 7 % 20 - 10, b = row * 11 % 16 - 8;
    char line[64];
    std::snprintf(line, sizeof line, "%.1f,%.1f,%.1f\n", a / 10., b / 10., (a + b) / 10.);
    text += line;
  }
  return text;
}

/// Numbers of which a model can learn something, one a line, always the same.
std::string some_digits(std::size_t letters) {
  const char* numbers[]{"12345\n", "678\n", "90\n", "31415926\n"};
  std::string text;
  for (unsigned state = 1; text.size() < letters;) {
    state = state * 1664525 + 1013904223;
    text += numbers[(state >> 16) % 4];
  }
  return text.substr(0, letters);
}

bool has(const std::string& all, const std::string& part) { return all.find(part) != all.npos; }

/// Fails with code 1 and this message, and leaves nothing behind.
void refuses(const Words& words, const std::string& message, const std::string& binary) {
  Scratch scratch;
  CAPTURE(words);
  check_refused(run(words, binary, scratch.path()), 1, message);
  CHECK(fs::is_empty(scratch.path()));
}

TEST_CASE("rows of one's own are trained on and evaluated, with the figures that they have") {
  Scratch scratch;
  fs::create_directory(scratch / "rows");
  write(scratch / "rows/a", some_rows(150));
  write(scratch / "rows/b", some_rows(50, 150));
  std::string tail = write(scratch / "tail", some_rows(20, 180)), out = scratch / "run";
  Words data{"train", "--data", scratch / "rows", "--steps", "60", "--eval-every", "30"};
  Ended plain = fine(data + Words{"--out", out, "--parallel.ranks", "2"}, SINTER_TABLE);
  CHECK(has(plain.out, "data    200 rows, of which the last 20 validate\n"));
  CHECK(has(plain.out, "validation every 30 steps"));
  CHECK(has(plain.out, "\nValidation: 0."));
  CHECK(!has(plain.out, "nats"));
  std::vector<Json> rows = metrics(out);
  REQUIRE(rows.size() == 60);
  CHECK(rows[0]["tokens"] == 8);
  CHECK(rows[59]["loss"].get<double>() < rows[0]["loss"].get<double>() / 4);
  Json e =
      fine({"eval", "--json", "--weights", out + "/last", "--data", tail}, SINTER_TABLE).json();
  CHECK(e.size() == 2);
  CHECK(e["tokens"] == 20);
  CHECK(e["loss"].get<double>() == doctest::Approx(rows[59]["val_loss"].get<double>()));
  Ended read = fine({"eval", "--weights", out + "/last", "--data", tail}, SINTER_TABLE);
  CHECK(read.out.starts_with("loss       0."));
  CHECK(read.out.ends_with("\npredicted  20 rows\n"));
  Json summary = fine(data + Words{"--out", scratch / "again", "--json"}, SINTER_TABLE).json();
  CHECK(summary["val_loss"].get<double>() > 0);
  CHECK(!summary.contains("bits_per_byte"));
}

TEST_CASE("--order and --seed reach a data policy of one's own") {
  Scratch scratch;
  std::string all = write(scratch / "all", some_rows(40)), out = scratch / "run";
  fine({"train", "--data", all, "--out", out, "--order", "sequential", "--steps", "6",
        "--optimizer.lr", "0"},
       SINTER_TABLE);
  std::vector<Json> rows = metrics(out);
  CHECK(!rows[5].contains("val_loss"));
  for (int s = 0; s < 6; ++s) {
    std::string part = write(scratch / "part", some_rows(8, s % 5 * 8));
    Json e = fine({"eval", "--json", "--weights", out, "--data", part}, SINTER_TABLE).json();
    CHECK(e["loss"].get<double>() == doctest::Approx(rows[s]["loss"].get<double>()).epsilon(1e-5));
  }
  auto first_loss = [&](const std::string& name, const Words& more) {
    Words words{"train", "--data", all, "--out", scratch / name, "--steps", "1"};
    fine(words + more, SINTER_TABLE);
    return metrics(scratch / name)[0]["loss"].get<double>();
  };
  std::string weights = out + "/last";
  double one = first_loss("1", {"--weights", weights, "--seed", "1"});
  CHECK(first_loss("1 again", {"--weights", weights, "--seed", "1"}) == one);
  CHECK(first_loss("2", {"--weights", weights, "--seed", "2"}) != one);
}

TEST_CASE("40 steps on data of one's own are 20 steps, a stop and 20 more") {
  Scratch scratch;
  std::string rows = write(scratch / "rows", "x,y,sum\n" + some_rows(100));
  std::string numbers = write(scratch / "digits", some_digits(700));
  struct Case {
    const char* name;
    std::string binary;
    Words data, more, at_first;  // at_first: what a resume takes from the checkpoint
  };
  for (const Case& c :
       {Case{"rows", SINTER_TABLE, {rows}, {"--eval-every", "20"}, {"--data.skip", "1"}},
        Case{"rows in order",
             SINTER_TABLE,
             {rows},
             {"--parallel.ranks", "2"},
             {"--data.skip", "1", "--order", "sequential"}},
        Case{"tokens", SINTER_DIGITS, {numbers}, {"--eval-every", "20"}, {"--seed", "3"}},
        Case{"tokens in order", SINTER_DIGITS, {numbers}, {}, {"--order", "sequential"}}}) {
    CAPTURE(c.name);
    std::string whole = scratch / (std::string("whole ") + c.name),
                parts = scratch / (std::string("parts ") + c.name);
    Words data = Words{"train", "--data"} + c.data + c.more;
    fine(data + c.at_first + Words{"--out", whole, "--steps", "40"}, c.binary);
    fine(data + c.at_first + Words{"--out", parts, "--steps", "20"}, c.binary);
    CHECK(metrics(parts).size() == 20);
    fine(data + Words{"--out", parts, "--steps", "40", "--resume"}, c.binary);
    require_same_end(whole, parts);
  }
}

TEST_CASE("a run on data of one's own does not go on with other data") {
  Scratch scratch;
  std::string out = scratch / "run", rows = write(scratch / "rows", some_rows(100));
  fine({"train", "--data", rows, "--out", out, "--steps", "4"}, SINTER_TABLE);
  write(scratch / "rows", some_rows(100, 1));
  Ended other =
      run({"train", "--data", rows, "--out", out, "--steps", "8", "--resume"}, SINTER_TABLE);
  CHECK(other.code == 1);
  CHECK(other.says("does not fit these data: the hash of their content was "));
  CHECK(metrics(out).size() == 4);
}

TEST_CASE("mistakes in data of one's own are told by its policy, before anything is made") {
  Scratch scratch;
  std::string good = write(scratch / "good", some_rows(100));
  std::string bad = write(scratch / "bad", some_rows(6) + "1,zwei,3\n" + some_rows(6));
  std::string few = write(scratch / "few", some_rows(9));
  std::string letters = write(scratch / "letters", "123\n45\n6x\n");
  auto train = [](const std::string& data) {
    return Words{"train", "--steps", "2", "--data", data};
  };
  refuses(train(scratch / "missing"), "Cannot read '" + scratch / "missing", SINTER_TABLE);
  refuses(train(bad), bad + ", line 7: '1,zwei,3' is not 3 numbers", SINTER_TABLE);
  refuses({"train", "--steps", "2", "--data", good, bad}, bad + ", line 7: ", SINTER_TABLE);
  refuses({"eval", "--weights", "x", "--data", bad}, bad + ", line 7: ", SINTER_TABLE);
  refuses(train(few), "The data have 9 rows, which is too few", SINTER_TABLE);
  refuses(train(letters), "Line 3 of the data has 'x'", SINTER_DIGITS);
  refuses(train(write(scratch / "short", "12")),
          "it has 2 tokens, but one window of context 8 needs 9", SINTER_DIGITS);
  Ended negative = run({"train", "--data", good, "--data.skip", "-1"}, SINTER_TABLE);
  CHECK(negative.code == 2);
  CHECK(negative.says("--data.skip takes a whole number of at least 0"));
}

TEST_CASE("a vocabulary of one's own has the figures of tokens, and its text is generated") {
  Scratch scratch;
  std::string numbers = write(scratch / "digits", some_digits(2000)), out = scratch / "run";
  Ended plain = fine({"train", "--data", numbers, "--out", out, "--steps", "100"}, SINTER_DIGITS);
  CHECK(has(plain.out, "data    2,000 tokens\n"));
  CHECK(has(plain.out, " nats, "));
  CHECK(has(plain.out, " bits per token."));
  Json e = fine({"eval", "--json", "--weights", out, "--data", numbers}, SINTER_DIGITS).json();
  CHECK(e["tokens"] == 1999);
  const double loss = e["loss"];
  CHECK(loss < std::log(11) - 0.5);
  CHECK(e["bits_per_token"].get<double>() == doctest::Approx(loss / std::numbers::ln2));
  CHECK(e["perplexity"].get<double>() == doctest::Approx(std::exp(loss)));
  CHECK(!e.contains("bits_per_byte"));
  Ended text = fine({"eval", "--weights", out, "--data", numbers}, SINTER_DIGITS);
  CHECK(has(text.out, " nats per token\nbits per token  "));
  CHECK(text.out.ends_with("predicted       1,999 tokens\n"));
  Words generate{"generate", "--weights", out, "--tokens", "200", "--temperature", "1"};
  Json g = fine(generate + Words{"--prompt", "12", "--json"}, SINTER_DIGITS).json();
  const std::string written = g["text"];
  CHECK(written.size() == 200);
  CHECK(written.find_first_not_of("0123456789\n") == written.npos);
  CHECK(has(written, "\n"));
  CHECK(fine(generate + Words{"--prompt", "12"}, SINTER_DIGITS).out.starts_with("12" + written));
  check_refused(run(generate, SINTER_DIGITS), 1, "The prompt is empty");
  Ended wrong = run(generate + Words{"--prompt", "ten"}, SINTER_DIGITS);
  CHECK(wrong.code == 1);
  CHECK(wrong.says("'ten' has more than digits"));
}

TEST_CASE("help and generate say what a data policy of one's own offers") {
  CHECK(has(run({"train", "--help"}, SINTER_TABLE).out, "Files of rows: two inputs and a target"));
  CHECK(has(run({"train", "--help"}, SINTER_TABLE).out, "--data.skip VALUE"));
  CHECK(has(run({"train", "--help"}, SINTER_DIGITS).out,
            "Files and folders to read; - alone is standard input."));
  CHECK(!has(run({"eval", "--help"}, SINTER_TABLE).out, "Not with this recipe"));
  CHECK(has(run({"generate", "--help"}, SINTER_TABLE).out, "Not with this recipe"));
  refuses({"generate", "--weights", "x"}, "its data policy has no tokenizer()", SINTER_TABLE);
}

TEST_CASE("a data policy that breaks its promises is refused") {
  refuses({"train", "--steps", "1", "--data", "x"},
          "gives a source of the order 'my own' to train on with --order shuffled", SINTER_STRAY);
  refuses({"train", "--steps", "1", "--data", "nothing"}, "gives nothing to train on",
          SINTER_STRAY);
  refuses({"eval", "--weights", "x", "--data", "x"}, "gives nothing to evaluate", SINTER_STRAY);
}

}  // namespace sinter::detail::testing::own_data_tests

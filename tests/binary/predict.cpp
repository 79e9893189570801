// SPDX-License-Identifier: Apache-2.0
// The verb predict.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "binary/support.hpp"
#include "support/python.hpp"

namespace sinter::detail::testing::predict_tests {

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(Json::parse(line));
  return lines;
}

std::string fresh(const Scratch& scratch, const std::string& binary = SINTER_SMALL) {
  fine({"export", "--seed", "3", "--out", scratch / "fresh"}, binary);
  return scratch / "fresh";
}

std::string ids_line(const std::vector<int>& ids) { return Json{{"ids", ids}}.dump() + "\n"; }

/// Ids in [0, 256) that follow from a number.
std::vector<int> some_ids(int count, unsigned state) {
  std::vector<int> ids;
  for (int k = 0; k < count; ++k) {
    state = state * 1664525 + 1013904223;
    ids.push_back(int(state >> 24));
  }
  return ids;
}

std::vector<Json> answers(const std::string& weights, const std::string& file,
                          const std::string& binary = SINTER_SMALL, const Words& more = {}) {
  return lines_of(
      fine(Words{"predict", "--json", "--weights", weights, "--ids", file} + more, binary).out);
}

/// The largest difference of two lists of numbers, relative to the largest number.
double difference(const Json& found, const Json& wanted) {
  REQUIRE(found.size() == wanted.size());
  double worst = 0, largest = 0;
  for (std::size_t k = 0; k < found.size(); ++k) {
    worst = std::max(worst, std::abs(found[k].get<double>() - wanted[k].get<double>()));
    largest = std::max(largest, std::abs(wanted[k].get<double>()));
  }
  return worst / largest;
}

TEST_CASE("predict gives a row of logits for each id of each line, in order") {
  Scratch scratch;
  const std::string weights = fresh(scratch);
  std::string file;
  std::vector<std::vector<int>> lines;
  for (int length : {3, 16, 1, 2, 16, 7, 5}) {
    lines.push_back(some_ids(length, unsigned(length + int(lines.size()))));
    file += ids_line(lines.back());
  }
  file.pop_back();  // the last line may lack its end
  const std::vector<Json> all = answers(weights, write(scratch / "ids", file));
  REQUIRE(all.size() == lines.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    CHECK(all[k].size() == 1);
    REQUIRE(all[k]["logits"].size() == lines[k].size());
    for (const Json& row : all[k]["logits"]) CHECK(row.size() == 256);
    // An answer does not hang on its neighbours.
    const auto alone = answers(weights, write(scratch / "one", ids_line(lines[k])));
    CHECK(alone.at(0) == all[k]);
  }
}

TEST_CASE("a position's logits are those of the text up to it") {
  Scratch scratch;
  const std::string weights = fresh(scratch);
  const std::vector<int> ids = some_ids(16, 9);
  std::string file;
  for (int length = 1; length <= 16; ++length)
    file += ids_line(std::vector<int>(ids.begin(), ids.begin() + length));
  const auto prefixes = answers(weights, write(scratch / "ids", file));
  const Json& whole = prefixes.back()["logits"];
  for (std::size_t length = 1; length <= 16; ++length) {
    const Json& last = prefixes[length - 1]["logits"].back();
    // Matmuls of other sizes may add up to 64 numbers in another order.
    CHECK(difference(last, whole[length - 1]) < 64 * 0x1p-24);
    if (length > 1) CHECK(difference(last, whole[length - 2]) > 1e-2);
  }
}

TEST_CASE("predict takes text where the data are text, a run's folder, and a number of threads") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(2000)), folder = scratch / "run";
  fine({"train", "--data", text, "--out", folder, "--steps", "5", "--eval-every", "100000"});
  const std::string said = write(scratch / "said", "a layer\nits width\r\n");
  const Words words{"predict", "--json", "--weights", folder, "--threads", "1", "--text", said};
  const Ended of_text = fine(words);
  std::string ids;
  for (const std::string line : {"a layer", "its width"})
    ids += ids_line(std::vector<int>(line.begin(), line.end()));
  const auto of_ids =
      answers(folder + "/last", write(scratch / "ids", ids), SINTER_SMALL, {"--threads", "1"});
  CHECK(lines_of(of_text.out) == of_ids);
  CHECK(fine(words + Words{"--quiet"}).out == of_text.out);
}

TEST_CASE("numbers of a prediction are read back as the floats that they are") {
  Scratch scratch;
  const std::string weights = fresh(scratch);
  const Ended ended = fine({"predict", "--json", "--weights", weights, "--ids",
                            write(scratch / "ids", ids_line(some_ids(16, 1)))});
  std::size_t numbers = 0;
  for (std::size_t at = ended.out.find_first_of("-0123456789"); at != ended.out.npos;
       at = ended.out.find_first_of("-0123456789", at)) {
    const std::size_t end = ended.out.find_first_of(",]", at);
    const std::string digits = ended.out.substr(at, end - at);
    CHECK(digits.find_first_of(".e") != digits.npos);
    // As a reader has it who knows doubles alone, and as one who knows floats.
    CHECK(float(std::strtod(digits.c_str(), nullptr)) == std::strtof(digits.c_str(), nullptr));
    char again[64];
    std::snprintf(again, sizeof again, "%.9g", double(std::strtof(digits.c_str(), nullptr)));
    CHECK(std::strtof(again, nullptr) == std::strtof(digits.c_str(), nullptr));
    ++numbers;
    at = end;
  }
  CHECK(numbers == 16 * 256);
}

TEST_CASE(
    "a model of numbers answers each row, a regression with values, a classifier with logits") {
  Scratch scratch;
  const std::string table = fresh(scratch, SINTER_TABLE);
  const std::string rows = R"({"values": [[0.5, 1], [2, -3.25e0], [0, 0]]})"
                           "\n"
                           R"({"values": [[2, -3.25]]})"
                           "\n";
  const auto found = answers(table, write(scratch / "rows", rows), SINTER_TABLE);
  REQUIRE(found.size() == 2);
  CHECK(found[0].size() == 1);
  REQUIRE(found[0]["values"].size() == 3);
  REQUIRE(found[1]["values"].size() == 1);
  CHECK(found[0]["values"][1].size() == 1);
  CHECK(difference(found[1]["values"][0], found[0]["values"][1]) < 64 * 0x1p-24);
  CHECK(found[0]["values"][0] != found[0]["values"][1]);

  Scratch digits;
  const std::string mnist = fresh(digits, SINTER_MNIST);
  std::string line = R"({"values": [[1)";
  for (int k = 1; k < 784; ++k) line += k % 2 ? ",0" : ",0.5";
  const auto classes = answers(mnist, write(digits / "rows", line + "]]}\n"), SINTER_MNIST);
  REQUIRE(classes.size() == 1);
  REQUIRE(classes[0]["logits"].size() == 1);
  CHECK(classes[0]["logits"][0].size() == 10);
  CHECK(
      run({"predict", "--json", "--weights", table, "--ids", scratch / "rows"}, SINTER_ROWS).code ==
      0);  // no data are needed
}

TEST_CASE(
    "an encoder-decoder answers each of decoder_ids, and writes behind what a text makes it") {
  Scratch scratch;
  const std::string weights = fresh(scratch, SINTER_SOURCED);
  const std::string lines = R"({"ids": [1, 2, 10, 4], "decoder_ids": [0, 3, 9]})"
                            "\n"
                            R"({"decoder_ids": [0], "ids": [1, 2, 10, 4]})"
                            "\n"
                            R"({"ids": [1], "decoder_ids": [0]})"
                            "\n";
  const auto found = answers(weights, write(scratch / "lines", lines), SINTER_SOURCED);
  REQUIRE(found.size() == 3);
  REQUIRE(found[0]["logits"].size() == 3);
  CHECK(found[0]["logits"][0].size() == 11);
  REQUIRE((found[1]["logits"].size() == 1 && found[2]["logits"].size() == 1));
  CHECK(difference(found[1]["logits"][0], found[0]["logits"][0]) < 64 * 0x1p-24);
  CHECK(difference(found[2]["logits"][0], found[0]["logits"][0]) > 1e-3);

  const Words predict{"predict", "--json", "--weights", weights};
  const std::string text = write(scratch / "text", "bcke\nb\n");
  CHECK(lines_of(fine(predict + Words{"--text", text}, SINTER_SOURCED).out) ==
        std::vector<Json>(found.begin() + 1, found.end()));
  check_refused(
      run(predict + Words{"--ids", write(scratch / "none", ids_line({1}))}, SINTER_SOURCED), 1,
      "line 1: it has no key 'decoder_ids'. Each line must be {\"ids\": [464, 257], "
      "\"decoder_ids\": [2, 464]}");

  auto generated = [&](const Words& more) {
    const Words words{"generate", "--weights", weights, "--temperature", "0", "--json", "--prompt"};
    return fine(words + more, SINTER_SOURCED).json();
  };
  const Json reply = generated({"bcke", "--tokens", "100"});
  CHECK(reply["tokens"] == 5);
  const auto& row = found[1]["logits"][0];
  CHECK(reply["text"].get<std::string>()[0] ==
        char('a' + (std::max_element(row.begin(), row.end()) - row.begin())));
  CHECK(generated({"bcke", "--tokens", "2"})["tokens"] == 2);
  check_refused(
      run({"generate", "--weights", weights, "--json", "--prompt", "abcdefghij"}, SINTER_SOURCED),
      1, "10 tokens for the encoder");
}

TEST_CASE("a line that is no question is refused by file and line, behind the answers before it") {
  Scratch scratch;
  const std::string weights = fresh(scratch), good = ids_line({1, 2, 3});
  auto refused = [&](const std::string& line, const std::string& why, const std::string& flag) {
    CAPTURE(line);
    const std::string file = write(scratch / "lines", good + good + good + line + "\n" + good);
    const Ended ended = run({"predict", "--json", "--weights", weights, flag, file});
    CHECK(ended.code == 1);
    CHECK(lines_of(ended.out).size() == 3);
    CAPTURE(ended.err);
    CHECK(ended.says("error: " + file + ", line 4: "));
    CHECK(ended.says(why));
  };
  auto bad = [&](const std::string& line, const std::string& why) { refused(line, why, "--ids"); };
  bad(R"({"ids": []})", "it has no id; the model needs at least one");
  bad(R"({"ids": [1, 256]})", "id 2 is 256, and the model's ids are whole numbers from 0 to 255");
  bad(R"({"ids": [-1]})", "id 1 is -1");
  bad(R"({"ids": [1.5]})", "id 1 is 1.5");
  bad(R"({"ids": [1e2]})", "id 1 is 100.0");
  bad(R"({"ids": ["a"]})", "id 1 is \"a\"");
  bad(R"({"ids": [99999999999999999999]})", "id 1 is ");
  bad(R"({"ids": 3})", "'ids' is 3, and no list");
  bad(R"({"ids": [[3]]})", "id 1 is [3]");
  bad(R"({"values": [[3]]})", "the key 'values', which is nothing to this model");
  bad(R"({"ids": [3], "token_types": [0]})", "the key 'token_types'");
  bad(R"({"ids": [3], "ids": [4]})", "the key 'ids' twice");
  bad("{}", "it has no key 'ids'");
  bad("[1, 2]", "it is [1,2], and no object");
  bad("1 2", "Each line must be {\"ids\": [464, 257]}");
  bad(ids_line(some_ids(17, 1)), "it has 17 ids, and the recipe's context is 16. Cut it");
  bad(std::string(200, '[') + std::string(200, ']'), "nested deeper");
}

TEST_CASE("text and numbers that are no question are refused likewise") {
  Scratch scratch;
  const std::string weights = fresh(scratch), file = scratch / "lines";
  write(file, "more than sixteen\n");
  Ended ended = run({"predict", "--json", "--weights", weights, "--text", file});
  check_refused(ended, 1, file + ", line 1: it has 17 tokens, and the recipe's context is 16");

  Scratch other;
  const std::string table = fresh(other, SINTER_TABLE);
  auto bad = [&](const std::string& line, const std::string& why) {
    const Words words{"predict", "--json", "--weights", table, "--ids", write(file, line)};
    check_refused(run(words, SINTER_TABLE), 1, file + ", line 1: " + why);
  };
  bad(R"({"values": []})", "it has no row");
  bad(R"({"values": [[1]]})", "row 1 is a list of 1, and the model's rows are lists of 2 numbers");
  bad(R"({"values": [[1, 2], 3]})", "row 2 is 3");
  bad(R"({"values": [[1, "2"]]})", "row 1 has \"2\", which is no number");
  bad(R"({"values": [[1, 1e300]]})", "row 1 has 1e+300, which is no number that a float can hold");
  bad(R"({"ids": [1]})", "it has the key 'ids'");
}

TEST_CASE("predict passes over blank lines, and reads pipes and standard input") {
  Scratch scratch;
  const std::string weights = fresh(scratch), file = scratch / "lines";
  const auto wanted = answers(weights, write(file, ids_line({1, 2}) + ids_line({3})));
  CHECK(answers(weights, write(file, "\n" + ids_line({1, 2}) + " \t\r\n\n" + ids_line({3}) +
                                         "\n")) == wanted);
  const std::string predict =
      "'" SINTER_SMALL "' predict --json --weights '" + weights + "' --ids ";
  for (const std::string& command :
       {"cat '" + file + "' | " + predict + "-", "cat '" + file + "' | " + predict + "/dev/stdin",
        predict + "<(cat '" + file + "')"})
    CHECK(lines_of(fine({"-c", command}, "/bin/bash").out) == wanted);
  const Words text{"predict", "--json", "--weights", weights, "--text"};
  CHECK(lines_of(fine(text + Words{write(file, "a\n\n\r\nb\n")}).out).size() == 2);
}

TEST_CASE("for people, predict prints classes and tokens with probabilities, and numbers") {
  Scratch scratch;
  const std::string weights = fresh(scratch), file = write(scratch / "text", "ab\n");
  const Words predict{"predict", "--weights", weights};
  const auto logits = lines_of(fine(predict + Words{"--json", "--text", file}).out).at(0)["logits"];
  std::istringstream lines(fine(predict + Words{"--text", file}).out);
  std::string line;
  for (const Json& row : logits) {
    REQUIRE(std::getline(lines, line));
    const auto likeliest = std::max_element(row.begin(), row.end());
    double sum = 0;
    for (const Json& logit : row) sum += std::exp(logit.get<double>() - likeliest->get<double>());
    const std::size_t end = line.find(", ");
    REQUIRE(end != line.npos);
    CHECK(std::count(line.begin(), line.end(), ',') >= 4);
    CHECK(std::abs(std::stod(line.substr(line.rfind(' ', end - 1))) - 1 / sum) < 1e-4);
  }
  CHECK(!std::getline(lines, line));

  Scratch other;
  const std::string table = fresh(other, SINTER_TABLE);
  const std::string rows = write(other / "rows", R"({"values": [[0.5, 1], [2, -3.25]]})");
  const auto values = answers(table, rows, SINTER_TABLE).at(0)["values"];
  const std::string numbers =
      fine({"predict", "--weights", table, "--ids", rows}, SINTER_TABLE).out;
  std::istringstream found(numbers);
  for (const Json& row : values) {
    float number = 0;
    CHECK(bool(found >> number));
    CHECK(number == row[0].get<float>());
  }
}

TEST_CASE("predict names a missing argument, and refuses contradictory ones") {
  Scratch scratch;
  const std::string weights = fresh(scratch), file = write(scratch / "ids", ids_line({1}));
  const Words words{"predict", "--json", "--weights", weights};
  check_refused(run({"predict", "--json", "--ids", file}), 2, "predict needs --weights PATH");
  check_refused(run(words), 2, "predict needs --ids FILE or --text FILE");
  check_refused(run(words + Words{"--ids", file, "--text", file}), 2,
                "predict takes --ids or --text, and not both");
  check_refused(run(words + Words{"--ids", file, "--tokenizer", file}), 2,
                "--tokenizer is nothing to ids");
  check_refused(run(words + Words{"--text", file, "--tokenizer", file}), 2,
                "--tokenizer is nothing to predict");
  check_refused(run(words + Words{"--text", file}, SINTER_ROWS), 2,
                "--text is nothing to the recipe rows");
  check_refused(run(words + Words{"--ids", scratch / "none"}), 1, "none");
  check_refused(run(words + Words{"--ids", scratch.path()}), 1, scratch.path());
  check_refused(run(words + Words{"--ids", write(scratch / "empty", "\n \n")}), 1,
                "has no lines that are not blank");
  check_refused(run({"predict", "--json", "--weights", scratch / "none", "--ids", file}), 1,
                "none");
}

TEST_CASE("predict has the logits of transformers at each position, where SINTER_PYTHON has it") {
  const std::string script = SINTER_SOURCE_DIR "/tests/support/predict_with_transformers.py";
  const auto python = sinter::detail::testing::python_with("torch, transformers");
  if (!python) return;
  Scratch scratch;
  const std::string weights = fresh(scratch);
  std::string file;
  for (int length : {16, 1, 9, 2}) file += ids_line(some_ids(length, unsigned(length)));
  write(scratch / "ids", file);
  const auto found = answers(weights, scratch / "ids");
  const Ended theirs = fine({script, weights, scratch / "ids"}, *python);
  const std::vector<Json> wanted = lines_of(theirs.out);
  REQUIRE(found.size() == wanted.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    REQUIRE(found[k]["logits"].size() == wanted[k]["logits"].size());
    for (std::size_t row = 0; row < found[k]["logits"].size(); ++row)
      CHECK(difference(found[k]["logits"][row], wanted[k]["logits"][row]) < 1e-5);
  }
}

}  // namespace sinter::detail::testing::predict_tests

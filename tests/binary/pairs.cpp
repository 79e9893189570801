// SPDX-License-Identifier: Apache-2.0
// Classes of pairs of texts, from the command line.
#include <cmath>
#include <cstring>

#include "binary/support.hpp"

namespace sinter::detail::testing::pairs_tests {

/// Pairs of which the first letter of the second text tells the class.
std::string table(int count) {
  const std::string text = some_text(4000);
  std::string rows = "label\tfirst\tsecond\n";
  auto part = [&](int begin, int size) {
    std::string some = text.substr(std::size_t(begin), std::size_t(size));
    for (char& letter : some) letter = letter == '\n' ? ' ' : letter;
    return some;
  };
  for (int k = 0; k < count; ++k)
    rows += std::to_string(k % 3) + "\t" + part(k * 13, 1 + k * 7 % 23) + "\t" + "xyz"[k % 3] +
            part(k * 11, k % 9) + "\n";
  return rows;
}

Words training(const std::string& file, const std::string& out, const std::string& steps) {
  return {"train",        "--data", file,    "--seed", "7",       "--threads", "2",
          "--eval-every", "20",     "--out", out,      "--steps", steps};
}

TEST_CASE("a run on labelled pairs learns them, and goes on with the same bits") {
  Scratch scratch;
  const std::string file = write(scratch / "a.tsv", table(150)), whole = scratch / "whole",
                    parts = scratch / "parts";
  const Ended ended = fine(training(file, whole, "60"), SINTER_PAIRS);
  CHECK(ended.out.find("150 examples of 150 rows in 1 file, the last ") != std::string::npos);
  CHECK(ended.out.find("classes 0: 33.3 %, 1: 33.3 %, 2: 33.3 %") != std::string::npos);
  fine(training(file, parts, "20"), SINTER_PAIRS);  // in the middle of an epoch
  fine(training(file, parts, "60") + Words{"--resume"}, SINTER_PAIRS);
  require_same_end(whole, parts);
  const auto rows = metrics(whole);
  CHECK(rows.front()["loss"].get<double>() == doctest::Approx(std::log(3.)).epsilon(.2));
  CHECK(rows.back()["loss"].get<double>() < std::log(3.) / 2);
  for (const Json& row : rows) {
    CHECK(row["label_length"] == 1);
    CHECK(row["padding"] == 0);
  }
}

TEST_CASE("eval gives the loss of a sequence, whatever the sequences beside it are") {
  Scratch scratch;
  const std::string file = write(scratch / "a.tsv", table(9)), out = scratch / "run";
  fine(training(write(scratch / "train.tsv", table(40)), out, "5"), SINTER_PAIRS);
  const Words eval{"eval", "--weights", out, "--threads", "1", "--data"};
  const Ended text = fine(eval + Words{file}, SINTER_PAIRS);
  CHECK(text.out.find(" nats per sequence\n") != std::string::npos);
  CHECK(text.out.find(" 9 sequences\n") != std::string::npos);
  CHECK(text.out.find("byte") == std::string::npos);
  const Json all = fine(eval + Words{file, "--json"}, SINTER_PAIRS).json();
  CHECK(all.size() == 10);
  for (const char* key : {"loss", "tokens", "accuracy", "context_length", "label_length"})
    CHECK(all.contains(key));
  CHECK(all["truncated"] == doctest::Approx(2. / 9));
  CHECK(all["context_truncated"] == all["truncated"]);
  CHECK(all["label_truncated"] == 0);
  CHECK(all["full_context_length"] > all["context_length"]);
  CHECK(all["full_label_length"] == 1);
  double sum = 0;
  std::istringstream rows(content(file));
  std::string header;
  std::getline(rows, header);
  for (std::string row; std::getline(rows, row);) {
    const std::string one = write(scratch / "one.tsv", header + "\n" + row + "\n");
    sum += fine(eval + Words{one, "--json"}, SINTER_PAIRS).json()["loss"].get<double>();
  }
  CHECK(all["loss"].get<double>() == doctest::Approx(sum / 9).epsilon(1e-5));
}

TEST_CASE("predict encodes a pair with a tab as training does") {
  Scratch scratch;
  const std::string weights = scratch / "fresh";
  fine({"export", "--seed", "3", "--out", weights}, SINTER_PAIRS);
  Json ids = {256}, types = {0};
  auto add = [&](const std::string& text, int type) {
    for (char letter : text) ids.push_back(int(letter)), types.push_back(type);
    ids.push_back(257), types.push_back(type);
  };
  add("one", 0);
  add("other", 1);
  const std::string line = Json{{"ids", ids}, {"token_types", types}}.dump() + "\n",
                    untyped = Json{{"ids", ids}}.dump() + "\n";
  const Words predict{"predict", "--json", "--weights", weights, "--threads", "1"};
  auto answer = [&](const std::string& flag, const std::string& lines) {
    return fine(predict + Words{flag, write(scratch / "lines", lines)}, SINTER_PAIRS).out;
  };
  const std::string of_text = answer("--text", "one\tother\n");
  CHECK(Json::parse(of_text)["logits"].size() == 1);
  CHECK(Json::parse(of_text)["logits"][0].size() == 3);
  CHECK(of_text == answer("--ids", line));
  CHECK(of_text != answer("--ids", untyped));
  const std::string file = write(scratch / "lines", "one\tother\nalone\n");
  const Ended ended = run(predict + Words{"--text", file}, SINTER_PAIRS);
  CHECK(ended.code == 1);
  CHECK(ended.says(file + ", line 2: The text must be a pair"));
}

/// Gives tensors of a safetensors file other names.
void rename_tensors(const std::string& file, const std::string& from, const std::string& to) {
  const std::string bytes = content(file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  std::string header = bytes.substr(sizeof length, length);
  for (std::size_t at; (at = header.find("\"" + from)) != header.npos;)
    header.replace(at + 1, from.size(), to);
  std::string out(sizeof length, '\0');
  const std::uint64_t now = header.size();
  std::memcpy(out.data(), &now, sizeof now);
  write(file, out + header + bytes.substr(sizeof length + length));
}

TEST_CASE("train starts from a body with a head that is fresh and named; nothing else does") {
  Scratch scratch;
  const std::string data = write(scratch / "a.tsv", table(40)), body = scratch / "body",
                    out = scratch / "run";
  fine({"export", "--seed", "3", "--out", body}, SINTER_PAIRS);
  rename_tensors(body + "/model.safetensors", "classifier.", "cls.predictions.");
  const std::string
      fresh =
          "note: the weights have no such head: classifier.weight, classifier.bias start fresh\n",
      left_out =
          "note: of another head, and left out: cls.predictions.bias, cls.predictions.weight\n";
  const Ended described = fine({"describe", "--weights", body}, SINTER_PAIRS);
  CHECK(described.says(fresh + left_out));
  const Json json = fine({"describe", "--json", "--weights", body}, SINTER_PAIRS).json();
  CHECK(json["weights"]["fresh"] == Json{"classifier.weight", "classifier.bias"});
  const Ended trained = fine(training(data, out, "2") + Words{"--weights", body}, SINTER_PAIRS);
  CHECK(trained.says(fresh + left_out));
  for (const char* verb : {"eval", "export"}) {
    Words words{verb, "--weights", body};
    words = words + (words[0] == "eval" ? Words{"--data", data} : Words{"--out", scratch / "x"});
    check_refused(run(words, SINTER_PAIRS), 1, "missing: classifier.weight [3, 16]");
  }
}

TEST_CASE("a label that is no class ends a run before it begins, by file and line") {
  Scratch scratch;
  const std::string file = write(scratch / "a.tsv", table(30) + "3\ta\tb\n"), out = scratch / "run";
  const Ended ended = run(training(file, out, "5"), SINTER_PAIRS);
  check_refused(ended, 1,
                "line 32 of '" + file +
                    "' is bad: its label \"label\" is 3, and not a "
                    "whole number from 0 to 2");
  CHECK(!fs::exists(out));
}

}  // namespace sinter::detail::testing::pairs_tests

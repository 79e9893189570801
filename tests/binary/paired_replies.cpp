// SPDX-License-Identifier: Apache-2.0
// Dialogues for a model with an encoder and a decoder, from the command line.
#include "binary/support.hpp"

namespace sinter::detail::testing::paired_replies_tests {

/// Dialogues of different lengths, as JSON lines.
std::string dialogues(int count) {
  const std::string text = some_text(4000);
  std::string lines;
  for (int d = 0; d < count; ++d) {
    Json turns = Json::array();
    for (int t = 0; t < 1 + d % 5; ++t)
      turns.push_back({"A", text.substr(std::size_t(d * 13 + t), std::size_t(d * 7 % 23 + t))});
    lines += Json{{"id", d}, {"turns", turns}}.dump() + "\n";
  }
  return lines;
}

Words training(const std::string& file, const std::string& out, const std::string& steps) {
  return {"train",        "--data", file,    "--seed", "7",       "--threads", "2",
          "--eval-every", "20",     "--out", out,      "--steps", steps};
}

TEST_CASE("a run on pairs that stops in the middle of an epoch goes on with the same bits") {
  Scratch scratch;
  const std::string file = write(scratch / "a.jsonl", dialogues(60)), whole = scratch / "whole",
                    parts = scratch / "parts";
  const Ended ended = fine(training(file, whole, "60"), SINTER_PAIRED_REPLIES);
  CHECK(ended.out.find("120 examples of 60 dialogues in 1 file, the last ") != std::string::npos);
  CHECK(ended.out.find("(at most 24), label ") != std::string::npos);
  CHECK(ended.out.find("; padding ") != std::string::npos);
  fine(training(file, parts, "20"), SINTER_PAIRED_REPLIES);
  const Json saved = Json::parse(content(parts + "/last/manifest.json"))["info"]["sampler"];
  CHECK(saved["position"] != "0");  // in the middle of an epoch
  CHECK(saved["context"] == "40");
  fine(training(file, parts, "60") + Words{"--resume", "--workers", "3"}, SINTER_PAIRED_REPLIES);
  require_same_end(whole, parts);
  const auto rows = metrics(whole);
  CHECK(rows.back()["loss"].get<double>() < 0.8 * rows.front()["loss"].get<double>());
  bool padded = false;
  for (const Json& row : rows) {
    const double context = row["context_length"].get<double>(),
                 label = row["label_length"].get<double>(), share = row["padding"].get<double>(),
                 examples =
                     row["examples_per_s"].get<double>() * row["step_ms"].get<double>() / 1e3,
                 tokens = row["tokens_per_s"].get<double>() * row["step_ms"].get<double>() / 1e3,
                 computed = row["rows"].get<double>();
    CHECK((context >= 1 && context <= 24 && label >= 1 && label <= 16));
    // Tokens are rows of the decoder; the share of padding is one of the rows of both axes.
    CHECK(row["predictions"].get<double>() == doctest::Approx(examples * label));
    CHECK((1 - share) * computed == doctest::Approx(examples * (context + label)));
    CHECK((tokens >= examples * label - .5 && computed - tokens >= examples * context - .5));
    padded |= share > 0;
  }
  CHECK(padded);
}

TEST_CASE("eval gives the loss of replies, whatever stands beside them") {
  Scratch scratch;
  const std::string lines =
      R"({"turns": [["A", "what now?"], ["B", "nothing"]]})"
      "\n"
      R"({"turns": [["A", ""], ["B", ""]]})"
      "\n"
      R"({"turns": [["A", "and a text that is far too long for it"], ["B", "so is the reply to it"]]})"
      "\n";
  const std::string file = write(scratch / "a.jsonl", lines), out = scratch / "run";
  fine(training(write(scratch / "train.jsonl", dialogues(40)), out, "5"), SINTER_PAIRED_REPLIES);
  const Words eval{"eval", "--weights", out, "--threads", "1", "--json", "--data"};
  const Json all = fine(eval + Words{file}, SINTER_PAIRED_REPLIES).json();
  CHECK(all["tokens"] == 8 + 1 + 16);
  double sum = 0;
  std::istringstream rows(lines);
  for (std::string row; std::getline(rows, row);) {
    const Json one =
        fine(eval + Words{write(scratch / "one.jsonl", row + "\n")}, SINTER_PAIRED_REPLIES).json();
    sum += one["loss"].get<double>() * one["tokens"].get<double>();
  }
  CHECK(all["loss"].get<double>() == doctest::Approx(sum / 25).epsilon(1e-5));
}

TEST_CASE("describe and bad dialogues are as with one sequence") {
  Scratch scratch;
  CHECK(fine({"describe"}, SINTER_PAIRED_REPLIES).out.find(" DialoguePairs,") != std::string::npos);
  const std::string file = write(scratch / "a.jsonl", dialogues(30) + "{\"turns\": 1}\n");
  const Ended ended = fine(training(file, scratch / "a", "2"), SINTER_PAIRED_REPLIES);
  CHECK(ended.says("left out of the data: 1 dialogue (line 31 of '" + file + "' is bad: "));
}

}  // namespace sinter::detail::testing::paired_replies_tests

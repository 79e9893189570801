// SPDX-License-Identifier: Apache-2.0
// Dialogues from the command line: batches by length, bad records, and a run that goes on.
#include "binary/support.hpp"

namespace sinter::detail::testing::replies_tests {

/// Dialogues of different lengths, as JSON lines.
std::string dialogues(int count) {
  const std::string text = some_text(4000);
  std::string lines;
  for (int d = 0; d < count; ++d) {
    Json turns = Json::array();
    for (int t = 0; t < 2 + d % 5; ++t)
      turns.push_back({"A", text.substr(std::size_t(d * 13 + t), std::size_t(1 + d * 7 % 23 + t))});
    for (auto& turn : turns)
      for (char& letter : turn[1].get_ref<std::string&>()) letter = letter == '\n' ? ' ' : letter;
    lines += Json{{"id", d}, {"turns", turns}}.dump() + "\n";
  }
  return lines;
}

/// Where a run stood in its data when it was last saved.
Json sampler(const std::string& run) {
  return Json::parse(content(run + "/last/manifest.json"))["info"]["sampler"];
}

TEST_CASE("a run on dialogues that stops in the middle of an epoch goes on with the same bits") {
  Scratch scratch;
  const std::string file = write(scratch / "a.jsonl", dialogues(60));
  Words data{"train", "--data", file, "--seed", "7", "--eval-every", "20", "--threads", "2"};
  const std::string whole = scratch / "whole", parts = scratch / "parts";
  const Ended ended = fine(data + Words{"--out", whole, "--steps", "60"}, SINTER_REPLIES);
  CHECK(ended.out.find("180 examples of 60 dialogues in 1 file, the last ") != std::string::npos);
  CHECK(ended.out.find("; padding ") != std::string::npos);
  fine(data + Words{"--out", parts, "--steps", "20"}, SINTER_REPLIES);
  CHECK(sampler(parts)["position"] != "0");  // in the middle of an epoch
  fine(data + Words{"--out", parts, "--steps", "60", "--resume"}, SINTER_REPLIES);
  CHECK(metrics(parts).size() == 60);
  for (const Json& row : metrics(whole)) {
    const double rows = row["context_length"].get<double>() + row["label_length"].get<double>();
    const double examples =
        row["examples_per_s"].get<double>() * row["step_ms"].get<double>() / 1000;
    CHECK(examples >= 0.99);
    // Rows are those of the examples, and padding.
    CHECK(row["tokens_per_s"].get<double>() * (1 - row["padding"].get<double>()) ==
          doctest::Approx(row["examples_per_s"].get<double>() * rows));
    CHECK(row["truncated"].get<double>() <= 1);
    CHECK(row["full_context_length"] >= row["context_length"]);
    CHECK(row["full_label_length"] >= row["label_length"]);
  }
  require_same_end(whole, parts);
  CHECK(sampler(whole)["epoch"] != "0");
  CHECK(metrics(whole).back()["loss"] < metrics(whole).front()["loss"]);
  const Ended other =
      run(data + Words{"--out", parts, "--steps", "70", "--resume", "--batching.tokens", "200"},
          SINTER_REPLIES);
  CHECK(other.code == 1);
  CHECK(other.says("the order was"));
}

TEST_CASE("any number of workers comes to the same end, also where it changes on the way") {
  Scratch scratch;
  const std::string file = write(scratch / "a.jsonl", dialogues(60)), parts = scratch / "parts",
                    whole = scratch / "0";
  const Words data{"train", "--data", file, "--seed", "7", "--threads", "2"};
  fine(data + Words{"--out", parts, "--steps", "15", "--workers", "4"}, SINTER_REPLIES);
  fine(data + Words{"--out", parts, "--steps", "40", "--workers", "2", "--resume"}, SINTER_REPLIES);
  for (const char* workers : {"0", "1", "3"}) {
    fine(data + Words{"--out", scratch / workers, "--steps", "40", "--workers", workers},
         SINTER_REPLIES);
    CHECK(lasting(scratch / workers) == lasting(whole));
  }
  CHECK(content(parts + "/last/model.safetensors") == content(whole + "/last/model.safetensors"));
  CHECK(sampler(parts) == sampler(whole));
  CHECK(run(data + Words{"--workers", "-1"}, SINTER_REPLIES).code == 2);
}

TEST_CASE("a run pads each micro-batch to the longest of it, and not of the batch") {
  Scratch scratch;
  const std::string longer = R"({"turns": [["A", "12345678"], ["B", "1234567"]]})",  // 16 rows
      shorter = R"({"turns": [["A", "123"], ["B", "1234"]]})";                       // 8 rows
  std::string lines;
  for (int k = 0; k < 13; ++k) lines += (k < 4 ? longer : shorter) + "\n";
  const std::string file = write(scratch / "a.jsonl", lines);
  const Ended ended = fine({"train", "--data", file, "--out", scratch / "a", "--steps", "2",
                            "--batching.tokens", "320"},  // all in one batch
                           SINTER_REPLIES);
  CHECK(ended.out.find("the last 1 held out") != std::string::npos);
  CHECK(ended.out.find("; padding 0.0 % of the rows") != std::string::npos);
}

TEST_CASE("bad dialogues are left out, said, and an error beyond the limit") {
  Scratch scratch;
  const std::string file =
      write(scratch / "a.jsonl", dialogues(30) + "{\"turns\": 1}\n" + dialogues(30) + "no\n");
  const Words data{"train", "--data", file, "--steps", "2"};
  const Ended ended = fine(data + Words{"--out", scratch / "a"}, SINTER_REPLIES);
  CHECK(ended.says("left out of the data: 2 dialogues (line 31 of '" + file + "' is bad: "));
  const Ended refused =
      run(data + Words{"--out", scratch / "b", "--data.bad_limit", "1"}, SINTER_REPLIES);
  CHECK(refused.code == 1);
  CHECK(refused.says("line 62 of '" + file + "' is bad: it is not JSON"));
  CHECK(!fs::exists(scratch / "b"));
}

TEST_CASE("batching by length refuses a sequential order") {
  Scratch scratch;
  const std::string file = write(scratch / "a.jsonl", dialogues(60));
  const Ended refused = run(
      {"train", "--data", file, "--out", scratch / "a", "--steps", "2", "--order", "sequential"},
      SINTER_REPLIES);
  CHECK(refused.code == 1);
  CHECK(refused.says("--order sequential"));
}

}  // namespace sinter::detail::testing::replies_tests

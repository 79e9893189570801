// SPDX-License-Identifier: Apache-2.0
// Event files of runs, read back with TensorBoard itself. SINTER_PYTHON names a Python that has it
// (pip install tensorboard); elsewhere that part is skipped.
#include "binary/support.hpp"
#include "support/python.hpp"

namespace sinter::detail::testing::tensorboard_tests {

std::vector<std::string> event_files(const std::string& run_folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(run_folder))
    if (entry.path().filename().string().starts_with("events.out.tfevents."))
      files.push_back(entry.path());
  return files;
}

/// What TensorBoard reads in a run's folder: {"scalars": {name: [[step, value], …]}, "text": […]};
/// null where there is none.
Json seen_by_tensorboard(const std::string& run_folder) {
  const auto python = sinter::detail::testing::python_with("tensorboard");
  if (!python) return nullptr;
  const char* script = R"(
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
seen = EventAccumulator(sys.argv[1], {"scalars": 0, "tensors": 0}).Reload()
tags = seen.Tags()
texts = [seen.Tensors(t)[-1].tensor_proto.string_val[0].decode() for t in tags["tensors"]]
print(json.dumps({"scalars": {t: [[e.step, e.value] for e in seen.Scalars(t)]
                              for t in tags["scalars"]}, "texts": texts})))";
  const Ended ended = run({"-c", script, run_folder}, *python);
  REQUIRE_MESSAGE(ended.code == 0, ended.err);
  return Json::parse(ended.out);
}

/// Checks that TensorBoard shows the very steps and values of metrics.jsonl.
void require_same(const Json& scalars, const std::string& run_folder) {
  const std::vector<std::pair<const char*, const char*>> keys{
      {"loss/training", "loss"},
      {"loss/validation", "val_loss"},
      {"optimizer/learning_rate", "lr"},
      {"optimizer/gradient_norm", "grad_norm"},
      {"speed/tokens_per_s", "tokens_per_s"},
      {"speed/data_wait_ms", "data_wait_ms"},
      {"speed/step_cpu_ms", "step_cpu_ms"},
      {"validation/token_accuracy", "val_token_accuracy"},
      {"data/predictions", "predictions"},
      {"data/rows", "rows"}};
  for (const auto& [tag, key] : keys) {
    CAPTURE(tag);
    Json wanted = Json::array();
    for (const Json& row : metrics(run_folder))
      if (row.contains(key)) wanted.push_back({row["step"], double(float(row[key].get<double>()))});
    CHECK(scalars.value(tag, Json::array()) == wanted);
  }
}

TEST_CASE("an event file is written where it is asked for, and from then on") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  fine({"train", "--data", text, "--out", out, "--steps", "4"});
  CHECK(event_files(out).empty());
  fine({"train", "--resume", "--out", out, "--steps", "6", "--tensorboard"});
  CHECK(event_files(out).size() == 1);
  fine({"train", "--resume", "--out", out, "--steps", "8"});
  CHECK(event_files(out).size() == 2);
}

TEST_CASE("TensorBoard shows the log's curves, after a kill and a resume, too") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  {
    Process killed(SINTER_SMALL,
                   {"train", "--data", text, "--out", out, "--tensorboard", "--steps", "100000",
                    "--schedule.steps", "0", "--save-every", "7", "--eval-every", "5"});
    REQUIRE(wait_for([&] { return fs::exists(out + "/step-00000014/manifest.json"); }));
    killed.signal(SIGKILL);
    killed.wait();
  }
  const int reached = newest_step(out);
  const int steps = reached + 6;
  fine({"train", "--resume", "--out", out, "--steps", std::to_string(steps), "--eval-every", "5"});
  const Json seen = seen_by_tensorboard(out);
  if (seen.is_null()) return;
  require_same(seen["scalars"], out);
  CHECK(seen["scalars"]["loss/training"].size() == steps);
  REQUIRE(seen["texts"].size() == 1);
  CHECK(seen["texts"][0].get<std::string>().find("recipe  small: ") != std::string::npos);
}

TEST_CASE("TensorBoard shows the metrics of evaluations") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  fine(
      {"train", "--data", text, "--out", out, "--tensorboard", "--steps", "4", "--eval-every", "2"},
      SINTER_WATCHER);
  CHECK(metrics(out).back().contains("val_token_accuracy"));
  const Json seen = seen_by_tensorboard(out);
  if (seen.is_null()) return;
  require_same(seen["scalars"], out);
  CHECK(seen["scalars"]["validation/token_accuracy"].size() == 2);
}

TEST_CASE("TensorBoard shows the steps of a run that has gone back as the log has them") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  // Four refused steps in a row go back to the newest checkpoint, which is some steps older.
  const Ended ended = run({"train", "--data", text, "--out", out, "--tensorboard", "--save-every",
                           "8", "--eval-every", "100000", "--guard.sigma", "0.3", "--guard.warmup",
                           "9", "--recovery.skips", "0", "--recovery.most", "3"},
                          SINTER_GUARDED);
  int last = 0;  // before the run went back
  for (const Json& row : metrics(out)) {
    const std::string words = row.value("text", "");
    if (!words.empty()) last = std::max(last, std::stoi(words.substr(words.find("step ") + 5)));
    if (!words.empty()) CHECK(last > int(row["step"]) + 1);  // steps were dropped
  }
  REQUIRE_MESSAGE(last > 0, ended.err);
  const Json seen = seen_by_tensorboard(out);
  if (seen.is_null()) return;
  // What came after the last row of the log was there when the run ended, and is not taken back.
  std::vector<Json> rows;
  for (const Json& row : metrics(out))
    if (!row.contains("event")) rows.push_back(row);
  const Json& losses = seen["scalars"]["loss/training"];
  REQUIRE(losses.size() >= rows.size());
  for (std::size_t k = 0; k < rows.size(); ++k) {
    CHECK(losses[k][0] == rows[k]["step"]);
    CHECK(losses[k][1] == double(float(rows[k]["loss"].get<double>())));
  }
}

TEST_CASE("an event file that cannot be written is a warning, and the run goes on") {
  Scratch scratch;
  const std::string text = write(scratch / "text", some_text(3000)), out = scratch / "run";
  // At the last steps the event file is larger than the limit, and the log and the checkpoint's
  // files are not.
  const Ended ended =
      Process(SINTER_SMALL,
              {"train", "--data", text, "--out", out, "--tensorboard", "--steps", "620",
               "--schedule.floor", "1", "--eval-every", "100000", "--save-every", "0"},
              "", "", {.max_bytes = 156'000})
          .wait();
  CHECK_MESSAGE(ended.code == 0, ended.err);
  CHECK(metrics(out).size() == 620);
  const auto files = event_files(out);
  REQUIRE(files.size() == 1);
  const std::string warning = "warning: Cannot write " + files[0] + ": File too large.";
  const std::size_t at = ended.out.find(warning);
  REQUIRE(at != std::string::npos);
  CHECK(ended.out.find("steps are missing from this event file", at) != std::string::npos);
  CHECK(ended.out.find(warning, at + 1) == std::string::npos);
  CHECK(fs::file_size(files[0]) > 120'000);
  const Json seen = seen_by_tensorboard(out);  // which finds no torn record
  if (!seen.is_null()) CHECK(seen["scalars"]["loss/training"].size() > 500);
}

}  // namespace sinter::detail::testing::tensorboard_tests

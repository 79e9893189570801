// SPDX-License-Identifier: Apache-2.0
#include "report/run_log.hpp"

#include <cmath>

#include "report/figures.hpp"
#include "sinter/files/checkpoint.hpp"
#include "unit/files/support.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::detail::testing;
using namespace sinter::detail::report;

namespace {

bool notes(const RunLog& log, const std::string& part) {
  for (const std::string& note : log.notes)
    if (contains(note, part)) return true;
  return false;
}

constexpr const char* info =
    R"({"trainer":{"recipe":"mine","step":2,"seed":"7","policies":["model: Mlp"],)"
    R"("options":{"optimizer.lr":0.5},"state":{}}})";

void save(const fs::path& folder, std::int64_t step) {
  CheckpointWriter writer(folder);
  writer.commit(step, info);
}

}  // namespace

TEST_CASE("a run's rows, events, starts and newest checkpoint are read") {
  TemporaryFolder folder;
  put(folder / "metrics.jsonl",
      "{\"step\":1,\"loss\":3.5,\"grad_norm\":1.5,\"lr\":0.25,\"tokens\":8,\"tokens_per_s\":100,"
      "\"step_ms\":2000,\"data_wait_ms\":10,\"examples_per_s\":4}\n"
      "{\"step\":2,\"loss\":2.5,\"tokens\":16,\"tokens_per_s\":300,\"step_ms\":500,"
      "\"val_loss\":2.75}\n"
      "{\"step\":2,\"event\":\"rolled back\",\"text\":\"why\"}\n"
      "{\"step\":3,\"loss\":1.5,\"tokens_per_s\":200,\"step_ms\":1,\"val_loss\":3}\n");
  put(folder / "run.json",
      "[{\"date\":\"d1\",\"version\":\"0.1\",\"recipe\":\"old\",\"command\":[\"p\",\"train\"],"
      "\"step\":0},\n {\"date\":\"d2\",\"version\":\"0.2\",\"command\":[\"p\"],\"step\":2}]\n");
  save(folder / "step-00000001", 1);
  save(folder / "step-00000002", 2);
  const RunLog log = read_run(folder.path());
  CHECK(log.notes.empty());
  REQUIRE(log.rows.size() == 3);
  CHECK(log.rows[0].gradient_norm == 1.5);
  CHECK(log.rows[0].learning_rate == 0.25);
  CHECK(std::isnan(log.rows[0].validation_loss));
  REQUIRE(log.happenings.size() == 1);
  CHECK(log.happenings[0].what == "rolled back");
  CHECK(log.happenings[0].text == "why");
  REQUIRE(log.starts.size() == 2);
  CHECK(log.starts[0].command == "p train");
  CHECK(log.starts[1].step == 2);
  REQUIRE(log.saved);
  CHECK(log.saved->step == 2);
  CHECK(log.saved->options.at("optimizer.lr") == "0.5");
  CHECK(log.recipe == "mine");

  const Figures figures = figures_of(log);
  CHECK(figures.steps == 3);
  CHECK(figures.loss == 1.5);
  CHECK(figures.best == 2.75);
  CHECK(figures.best_step == 2);
  CHECK(figures.tokens == 16);
  CHECK(figures.tokens_per_s == 200);
  CHECK(figures.seconds == 2.501);
  CHECK(figures.examples_per_s == 4);
  CHECK(figures.data_wait == 10.0 / 500);  // medians; rows of older logs do not say it
}

TEST_CASE("a log that is damaged or grows is read as far as it goes, and the rest is said") {
  TemporaryFolder folder;
  const std::string good = "{\"step\":1,\"loss\":3}\n";
  put(folder / "metrics.jsonl", good + "{\"step\":2,\"los");
  RunLog log = read_run(folder.path());
  CHECK(log.rows.size() == 1);
  CHECK(notes(log, "There is no run.json"));
  CHECK(notes(log, "There is no checkpoint yet"));
  CHECK_FALSE(notes(log, "cannot be read"));

  put(folder / "metrics.jsonl",
      good +
          "\n[1]\nnot json\n{\"loss\":1}\n{\"step\":-1}\n{\"step\":1e99}\n{\"step\":2,\"loss\":NaN}"
          "\n{\"step\":2,\"loss\":1e999}\n" +
          std::string(5000, '[') +
          "\n{\"step\":3,\"loss\":null,\"lr\":\"x\"}\n{\"step\":4,\"loss\":2}\n");
  log = read_run(folder.path());
  REQUIRE(log.rows.size() == 3);
  CHECK(std::isnan(log.rows[1].loss));
  CHECK(notes(log, "9 lines of metrics.jsonl cannot be read"));
  CHECK(notes(log, "1 row of metrics.jsonl with a value that is no finite number"));
  CHECK(column(log, &Row::loss).size() == 2);
}

TEST_CASE("later rows of a log replace earlier rows of the same steps") {
  TemporaryFolder folder;
  std::string text;
  for (int step : {1, 2, 3, 2, 3, 4})
    text += "{\"step\":" + std::to_string(step) + ",\"loss\":1}\n";
  put(folder / "metrics.jsonl", text);
  const RunLog log = read_run(folder.path());
  REQUIRE(log.rows.size() == 4);
  for (int k = 0; k < 4; ++k) CHECK(log.rows[std::size_t(k)].step == k + 1);
}

TEST_CASE("rows that cross the blocks in which a file is read stay whole") {
  TemporaryFolder folder;
  std::string text;
  for (int step = 1; text.size() < (5 << 19); ++step)
    text += "{\"step\":" + std::to_string(step) + ",\"loss\":1.25}\n";
  put(folder / "metrics.jsonl", text);
  const RunLog log = read_run(folder.path());
  CHECK_FALSE(notes(log, "cannot be read"));
  CHECK(log.rows.size() == std::size_t(log.rows.back().step));
}

TEST_CASE("a damaged checkpoint or record is passed over, and said") {
  TemporaryFolder folder;
  put(folder / "metrics.jsonl", "{\"step\":1,\"loss\":3}\n");
  put(folder / "run.json", "{\"a\":");
  save(folder / "step-00000002", 2);
  save(folder / "step-00000004", 4);
  put(folder / "step-00000004/manifest.json", "{}");
  const RunLog log = read_run(folder.path());
  REQUIRE(log.saved);
  CHECK(log.saved->step == 2);
  CHECK(notes(log, "step-00000004 cannot be used"));
  CHECK(notes(log, "run.json is damaged"));
}

TEST_CASE("a folder that is no run's is an error that says so") {
  TemporaryFolder folder;
  auto says = [&](const fs::path& path, const char* text) {
    CHECK(contains(message_of([&] { read_run(path); }), text));
  };
  says(folder / "none", "it does not exist");
  put(folder / "file", "x");
  says(folder / "file", "it is no folder");
  says(folder.path(), "it has neither metrics.jsonl nor run.json");
  save(folder / "step-00000002", 2);
  says(folder / "step-00000002", "give the folder around it");
  fs::create_symlink("file", folder / "metrics.jsonl");
  says(folder.path(), "is a link");
}

// SPDX-License-Identifier: Apache-2.0
// What others do to the folder of a run while it is live.
#include <doctest/doctest.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "sinter/files/metrics_log.hpp"
#include "unit/files/runs.hpp"

namespace sinter::detail::testing::run_folder_live_tests {

TEST_CASE("a run whose folder is renamed goes on where it is now, and says so") {
  TemporaryFolder folder;
  const fs::path moved = fs::canonical(folder.path()) / "moved";
  for (bool taken : {false, true}) {
    CAPTURE(taken);
    fs::remove_all(folder / "run");
    fs::remove_all(moved);
    RunFolder run(folder / "run", Mode::fresh);
    MetricsLog log(run.metrics_path(), 0);
    save(run, 10);
    fs::rename(folder / "run", moved);
    std::optional<RunFolder> other;
    if (taken) {
      other.emplace(folder / "run", Mode::fresh);
      save(*other, 7);
    }
    log.append(R"({"step":20})");
    log.sync();
    CHECK(save(run, 20) == moved / "step-00000020");
    CHECK(run.path() == moved);
    CHECK(run.newest_good() == moved / "step-00000020");
    CHECK(run.take_warnings() == (folder / "run").string() +
                                     " was moved while the run was live. It goes on in " +
                                     moved.string() + ".\n");
    CHECK(CheckpointReader(moved / "last").step() == 20);
    CHECK(get(moved / "metrics.jsonl") == "{\"step\":20}\n");
    CHECK(contains(refusal(moved), "in use by a live run"));
    save(run, 30);
    CHECK(run.take_warnings() == "");
    CHECK(fs::exists(folder / "run") == taken);
    if (taken) CHECK(step_folders(folder / "run").size() == 1);
  }
}

TEST_CASE("a folder that is removed under a live run is made anew, with its log") {
  TemporaryFolder folder;
  for (bool log_too : {false, true}) {
    CAPTURE(log_too);
    RunFolder run(folder / "run", Mode::fresh);
    MetricsLog log(run.metrics_path(), 0);
    log.append(R"({"step":10})");
    save(run, 10);
    fs::remove_all(folder / "run");
    log.append(R"({"step":20})");
    if (log_too) log.sync();
    save(run, 20);
    CHECK(contains(run.take_warnings(), "was removed while the run was live. It goes on there"));
    CHECK(CheckpointReader(folder / "run/last").step() == 20);
    log.sync();
    log.append(R"({"step":21})");
    CHECK(get(folder / "run/metrics.jsonl") == "{\"step\":10}\n{\"step\":20}\n{\"step\":21}\n");
    CHECK(contains(refusal(folder / "run"), "pid " + std::to_string(::getpid())));
    save(run, 30);
    CHECK(run.take_warnings() == "");
    fs::remove_all(folder / "run");
  }
}

TEST_CASE(
    "rows may be written while earlier ones are made durable, also in a log that is removed") {
  TemporaryFolder folder;
  MetricsLog log(folder / "run.d/metrics.jsonl", (fs::create_directory(folder / "run.d"), 0));
  std::thread saves([&] {
    for (int k = 0; k < 20; ++k) {
      fs::remove_all(folder / "run.d");
      log.sync();
    }
  });
  std::string all;
  for (int k = 0; k < 2000; ++k) {
    std::string row = "{\"step\":" + std::to_string(k) + "}";
    log.append(row);
    all += row + "\n";
  }
  saves.join();
  log.sync();
  CHECK(get(folder / "run.d/metrics.jsonl") == all);
}

TEST_CASE("a lock that is removed or replaced under a live run is taken again") {
  TemporaryFolder folder;
  RunFolder run(folder / "run", Mode::fresh);
  save(run, 10);
  fs::remove(folder / "run/lock");
  save(run, 20);
  CHECK(contains(run.take_warnings(), "or its lock was removed while the run was live"));
  CHECK(contains(refusal(folder / "run"), "in use by a live run"));

  fs::rename(folder / "run/lock", folder / "run/lock.bak");
  put(folder / "run/lock", "pid 7 on elsewhere\n");
  save(run, 30);
  CHECK(contains(run.take_warnings(), "or its lock was removed"));
  CHECK(contains(refusal(folder / "run"), "in use by a live run"));
}

TEST_CASE("a run whose folder another run has taken saves nothing there") {
  TemporaryFolder folder;
  RunFolder run(folder / "run", Mode::fresh);
  save(run, 10);
  fs::remove_all(folder / "run");
  {
    RunFolder other(folder / "run", Mode::fresh);
    for (int times = 0; times < 2; ++times)
      CHECK(contains(message_of([&] { save(run, 20); }), "run is in use by a live run: pid "));
    CHECK(run.newest_good().empty());
    CHECK(step_folders(folder / "run").empty());
  }
  CHECK_NOTHROW(save(run, 20));
}

}  // namespace sinter::detail::testing::run_folder_live_tests

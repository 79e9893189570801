// SPDX-License-Identifier: Apache-2.0
// Every system call of a save, one after the other: it fails, the process dies at it, and the order
// in which they reach the disk.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string>
#include <vector>

#include "faults/files_calls.hpp"
#include "sinter/files/metrics_log.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/files/weights.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing::files_system_calls_tests {

std::string content_of(std::int64_t step, const std::string& mark) {
  return "step " + std::to_string(step) + " " + mark;
}

void save(RunFolder& run, std::int64_t step, const std::string& mark, bool best = false) {
  auto fill = [&](CheckpointWriter& writer) {
    writer.add_file("model.safetensors", content_of(step, mark));
    writer.add_file("sampler.bin", content_of(step, mark));
  };
  run.save(step, "{}", fill, best);
}

/// Steps 10, 20 and 30 with `best` at 10, as a run of two kept checkpoints has them.
void prepare(const fs::path& path) {
  fs::remove_all(path);
  RunFolder run(path, RunFolder::Mode::fresh);
  save(run, 10, "old", true);
  save(run, 20, "old");
  save(run, 30, "old");
}

/// The mark of a step's verified checkpoint, "" if there is none.
std::string mark_of(const fs::path& checkpoint) {
  if (!fs::exists(checkpoint)) return "";
  CheckpointReader reader(checkpoint);
  std::string content = get(reader.file("model.safetensors"));
  CHECK(get(reader.file("sampler.bin")) == content);
  for (const char* mark : {"old", "new"})
    if (content == content_of(reader.step(), mark)) return mark;
  FAIL("a checkpoint holds neither the old content nor the new");
  return "";
}

/// What must hold after a save of `step` was struck, before and after the next run opens the
/// folder.
void check_run(const fs::path& path, std::int64_t step, bool may_wait_for_recovery = false) {
  for (bool reopened : {false, true}) {
    CAPTURE(reopened);
    if (reopened) {
      RunFolder run(path, RunFolder::Mode::resume);
      CHECK(run.take_warnings() == "");
      CHECK(hidden_entries(path) == 0);
    }
    if (!reopened && may_wait_for_recovery) continue;
    std::string last = mark_of(path / "last"), best = mark_of(path / "best");
    CHECK(last != "");
    CHECK(best != "");
    CHECK(mark_of(path / "step-00000030") != "");
    // The second newest is pruned only when a newer one is durable and `last` leads to it.
    if (mark_of(path / "step-00000020") == "") {
      CHECK(step == 40);
      CHECK(mark_of(path / "step-00000040") == "new");
      CHECK(CheckpointReader(path / "last").step() == 40);
    }
    if (reopened && mark_of(path / "step-00000040") != "")
      CHECK(CheckpointReader(path / "last").step() == 40);
  }
}

TEST_CASE("any call of a save fails: an error, or the save is complete; nothing good is lost") {
  TemporaryFolder folder;
  fs::path path = folder / "run";
  for (std::int64_t step : {40, 30})
    for (int error : {ENOSPC, EIO}) {
      int failures = 0;
      for (int at = 1;; ++at) {
        prepare(path);
        bool failed = false;
        int count;
        {
          RunFolder run(path, RunFolder::Mode::resume);
          arm(Fault::error, at, error);
          try {
            save(run, step, "new", true);
          } catch (const FileError&) {
            failed = true;
          }
          count = disarm();
        }
        CAPTURE(step);
        CAPTURE(at);
        std::string call = at <= count ? calls.seen[static_cast<std::size_t>(at - 1)] : "none";
        CAPTURE(call);
        if (!failed) CHECK(mark_of(path / "last") == "new");
        // An error before the links are touched means that nothing has changed.
        bool linking = false;
        for (const std::string& one : calls.seen) linking = linking || one.starts_with("symlink");
        CHECK((failed || linking));
        CHECK(mark_of(path / "step-00000030") == (linking && step == 30 ? "new" : "old"));
        CHECK(mark_of(path / "step-00000040") == (linking && step == 40 ? "new" : ""));
        check_run(path, step);
        failures += failed;
        if (at > count) break;
      }
      CHECK(failures >= 12);
    }
}

TEST_CASE("the process dies at any call of a save: the next run finds a whole checkpoint") {
  TemporaryFolder folder;
  fs::path path = folder / "run";
  for (std::int64_t step : {40, 30}) {
    int deaths = 0;
    for (int at = 1;; ++at) {
      prepare(path);
      pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        RunFolder run(path, RunFolder::Mode::resume);
        arm(Fault::death, at);
        save(run, step, "new", true);
        ::_exit(0);
      }
      int status;
      REQUIRE(::waitpid(child, &status, 0) == child);
      CAPTURE(step);
      CAPTURE(at);
      check_run(path, step);
      deaths += WIFSIGNALED(status);
      if (WIFEXITED(status)) break;
    }
    CHECK(deaths >= 20);
  }
}

TEST_CASE("a replacement without the atomic exchange: failures and deaths at any call") {
  TemporaryFolder folder;
  fs::path path = folder / "run";
  auto act = [&] {
    CheckpointWriter writer(folder / "new");
    writer.add_file("model.safetensors", content_of(30, "new"));
    writer.add_file("sampler.bin", content_of(30, "new"));
    writer.commit(30, "{}");
    return [&] { replace_folder(folder / "new", path / "step-00000030", false); };
  };
  for (int at = 1;; ++at) {
    CAPTURE(at);
    prepare(path);
    fs::remove_all(folder / "new");
    auto replace = act();
    arm(Fault::error, at, EIO);
    bool failed = false;
    try {
      replace();
    } catch (const FileError&) {
      failed = true;
    }
    int count = disarm();
    CHECK(mark_of(path / "step-00000030") == (failed ? "old" : "new"));
    CHECK(failed == fs::exists(folder / "new"));
    check_run(path, 30);
    if (at > count) break;
  }
  for (int at = 1;; ++at) {
    CAPTURE(at);
    prepare(path);
    fs::remove_all(folder / "new");
    auto replace = act();
    pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      arm(Fault::death, at);
      replace();
      ::_exit(0);
    }
    int status;
    REQUIRE(::waitpid(child, &status, 0) == child);
    check_run(path, 30, true);
    if (WIFEXITED(status)) break;
  }
}

TEST_CASE(
    "any call of resuming fails: an error, or all is as it was; no good checkpoint is given up") {
  TemporaryFolder folder;
  fs::path path = folder / "run";
  prepare(path);
  for (int error : {EMFILE, EACCES, EIO, ENOMEM}) {
    int failures = 0;
    for (int at = 1;; ++at) {
      CAPTURE(error);
      CAPTURE(at);
      std::int64_t found = 0;
      arm(Fault::error, at, error, true);
      try {
        RunFolder run(path, RunFolder::Mode::resume);
        found = run.resume_point()->step();
      } catch (const FileError&) {
        ++failures;
      }
      int count = disarm();
      CHECK((found == 0 || found == 30));
      for (const auto& entry : fs::directory_iterator(path))
        CHECK(!contains(entry.path().filename(), "damaged"));
      for (const char* name : {"step-00000020", "step-00000030", "last"})
        CHECK(mark_of(path / name) == "old");
      if (at > count) break;
    }
    CHECK(failures >= 8);
  }
}

/// Resumes, logs and saves, with a fault at one call after the other; `check` is given whether it
/// has failed.
void strike_all(Fault fault, int error, bool reading, const std::function<void(bool)>& check) {
  TemporaryFolder folder;
  fs::path path = folder / "run";
  for (int at = 1;; ++at) {
    CAPTURE(at);
    prepare(path);
    put(path / "metrics.jsonl", "{\"step\":30}\n{\"step\":31}\n");
    bool failed = false;
    arm(fault, at, error, reading);
    try {
      RunFolder run(path, RunFolder::Mode::resume);
      MetricsLog log(run.metrics_path(), 30);
      log.append(R"({"step":40})");
      log.sync();
      save(run, 40, "new", true);
      CHECK(run.take_warnings() == "");
    } catch (const FileError& failure) {
      failed = true;
      CAPTURE(failure.what());
      CHECK(fault != Fault::half);
    }
    int count = disarm();
    CAPTURE(calls.seen[static_cast<std::size_t>(std::min(at, count) - 1)]);
    if (!failed) {
      CHECK(mark_of(path / "last") == "new");
      CHECK(mark_of(path / "best") == "new");
      CHECK(get(path / "metrics.jsonl") == "{\"step\":30}\n{\"step\":40}\n");
      CHECK(hidden_entries(path) == 0);
      CHECK(step_folders(path).size() == 2);
    }
    check(failed);
    check_run(path, 40);
    if (at > count) break;
  }
}

TEST_CASE("a signal may interrupt any call: it is made again, and all is done") {
  int interrupted = 0;
  strike_all(Fault::error, EINTR, true, [&](bool failed) {
    CHECK(!failed);
    ++interrupted;
  });
  CHECK(interrupted > 40);
}

TEST_CASE("a write that takes only a part is gone on with, one that takes nothing is an error") {
  strike_all(Fault::half, 0, false, [](bool failed) { CHECK(!failed); });
  int refused = 0;
  strike_all(Fault::zero, 0, false, [&](bool failed) { refused += failed; });
  CHECK(refused >= 4);
}

TEST_CASE("a run's folder and those above it are on the disk before the run begins") {
  TemporaryFolder folder;
  arm(Fault::none, 0);
  RunFolder run(folder / "a/run", RunFolder::Mode::fresh);
  disarm();
  std::vector<std::string> expected{"mkdir a", "fsync " + folder.path().filename().string(),
                                    "mkdir run", "fsync a"};
  REQUIRE(calls.seen.size() >= expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) CHECK(calls.seen[k] == expected[k]);
}

TEST_CASE("each step is on the disk before the next one relies on it") {
  TemporaryFolder folder;
  fs::path path = folder / "run";
  prepare(path);
  RunFolder run(path, RunFolder::Mode::resume);
  arm(Fault::none, 0);
  save(run, 40, "new", true);
  disarm();
  std::string pid = std::to_string(::getpid()), temporary = ".step-00000040.tmp-" + pid;
  std::vector<std::string> expected{
      "mkdir " + temporary,
      "write model.safetensors",
      "fsync model.safetensors",
      "write sampler.bin",
      "fsync sampler.bin",
      "write manifest.json",
      "fsync manifest.json",
      "fsync " + temporary,
      "rename " + temporary + " step-00000040",
      "fsync run",
      "symlink .last.tmp-" + pid,
      "rename .last.tmp-" + pid + " last",
      "fsync run",
      "symlink .best.tmp-" + pid,
      "rename .best.tmp-" + pid + " best",
      "fsync run",
      "rename step-00000020 .step-00000020.tmp-" + pid,
  };
  REQUIRE(calls.seen.size() > expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) CHECK(calls.seen[k] == expected[k]);
  for (std::size_t k = expected.size(); k < calls.seen.size(); ++k) {
    CAPTURE(calls.seen[k]);
    CHECK((calls.seen[k].starts_with("unlink") || calls.seen[k].starts_with("rename step-")));
  }
}

/// The file system has no symbolic links while this lives.
class NoLinks {
 public:
  explicit NoLinks(int error) { calls.no_links = error; }
  ~NoLinks() { calls.no_links = 0; }
};

TEST_CASE("without symbolic links plain files say which checkpoint is last and best") {
  for (int error : {EPERM, EOPNOTSUPP, ENOSYS}) {
    TemporaryFolder folder;
    const fs::path path = folder / "run";
    {
      const NoLinks none(error);
      {
        RunFolder run(path, RunFolder::Mode::fresh);
        save(run, 10, "old", true);
        const std::string warnings = run.take_warnings();
        CHECK(contains(warnings,
                       "has no symbolic links, so `last` and `best` in it are plain files"));
        for (std::int64_t step : {20, 30}) save(run, step, "old");
        CHECK(run.take_warnings() == "");  // once
      }
      CHECK(fs::symlink_status(path / "last").type() == fs::file_type::regular);
      CHECK(get(path / "last") == "step-00000030\n");
      CHECK(get(path / "best") == "step-00000010\n");
      CHECK(mark_of(path / "step-00000010") == "old");  // the best one is kept
      CHECK(hidden_entries(path) == 0);
      CHECK(resolve_weights(path / "last").path.filename() == "step-00000030");
      for (const fs::path& named : {path, path / "best", fs::path(path.string() + "@best")})
        CHECK(resolve_weights(named).path.filename() == "step-00000010");
      CHECK(CheckpointReader(path / "best").step() == 10);
      RunFolder run(path, RunFolder::Mode::resume);
      CHECK(run.resume_point()->step() == 30);
    }
    // Copied to a file system that has them.
    RunFolder run(path, RunFolder::Mode::resume);
    CHECK(run.take_warnings() == "");
    CHECK(fs::read_symlink(path / "last") == "step-00000030");
    save(run, 40, "new", true);
    CHECK(fs::read_symlink(path / "best") == "step-00000040");
  }
}

TEST_CASE("a plain file that names no checkpoint is not taken for a link") {
  TemporaryFolder folder;
  const fs::path path = folder / "run";
  prepare(path);
  fs::remove(path / "last");
  for (const char* content : {"", "mine", "../step-00000030", "step-30"}) {
    put(path / "last", content);
    const std::string text = message_of([&] { RunFolder run(path, RunFolder::Mode::resume); });
    CHECK(contains(text, "is not a link, and no file that names a checkpoint"));
    CHECK(get(path / "last") == content);
  }
  put(path / "last", "step-00000077\n");  // it is gone: the newest takes its place
  RunFolder run(path, RunFolder::Mode::resume);
  CHECK(fs::read_symlink(path / "last") == "step-00000030");
}

TEST_CASE("a row that cannot be written is an error and leaves nothing of itself") {
  TemporaryFolder folder;
  MetricsLog log(folder / "m", 0);
  log.append(R"({"step":1})");
  arm(Fault::error, 1, ENOSPC);
  std::string text = message_of([&] { log.append(R"({"step":2})"); });
  disarm();
  CHECK(contains(text, "No space left on device. Free space"));
  CHECK(get(folder / "m") == "{\"step\":1}\n");
}

}  // namespace sinter::detail::testing::files_system_calls_tests

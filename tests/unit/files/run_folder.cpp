// SPDX-License-Identifier: Apache-2.0
#include "sinter/files/run_folder.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <csignal>

#include "unit/files/runs.hpp"

using namespace sinter;
using namespace sinter::detail;
using namespace sinter::detail::testing;

namespace {

void damage(const fs::path& file) {
  std::string content = get(file);
  content.back() ^= 1;
  put(file, content);
}

}  // namespace

TEST_CASE("a fresh run saves, prunes and swings its links") {
  TemporaryFolder folder;
  RunFolder run(folder / "a/run", Mode::fresh);
  CHECK(!run.resume_point());
  CHECK(run.newest_good().empty());
  CHECK(save(run, 10) == folder / "a/run/step-00000010");
  CHECK(fs::read_symlink(run.path() / "last") == "step-00000010");
  CHECK(!fs::exists(run.path() / "best"));
  save(run, 20, true);
  save(run, 30);
  save(run, 40);
  save(run, 50);
  CHECK(run.newest_good() == run.path() / "step-00000050");
  CHECK(fs::read_symlink(run.path() / "last") == "step-00000050");
  CHECK(fs::read_symlink(run.path() / "best") == "step-00000020");
  std::vector<StepFolder> steps = step_folders(run.path());
  REQUIRE(steps.size() == 3);
  CHECK(steps[1].step == 40);
  CHECK(steps[2].step == 20);
  save(run, 60, true);
  CHECK(step_folders(run.path()).size() == 2);
  CHECK(fs::read_symlink(run.path() / "best") == "step-00000060");
  CHECK(hidden_entries(run.path()) == 0);
  CHECK(run.take_warnings() == "");
  CHECK_THROWS_AS(RunFolder(folder / "b", Mode::fresh, 1), ArgumentError);
}

TEST_CASE("resuming finds the newest checkpoint, and its step can be saved again") {
  TemporaryFolder folder;
  {
    RunFolder run(folder / "run", Mode::either);
    save(run, 10);
    save(run, 20, true, "first");
  }
  for (Mode mode : {Mode::resume, Mode::either}) {
    RunFolder run(folder / "run", mode);
    REQUIRE(run.resume_point());
    CHECK(run.resume_point()->step() == 20);
    CHECK(run.newest_good() == run.path() / "step-00000020");
    save(run, 20, false, "second");
    CHECK(get(folder / "run/last/model.safetensors") == "second");
    CHECK(step_folders(run.path()).size() == 2);
    CHECK(hidden_entries(run.path()) == 0);
  }
}

TEST_CASE("a used folder is not begun anew, an unused one not resumed") {
  TemporaryFolder folder;
  CHECK(contains(refusal(folder / "none", Mode::resume), "nothing to resume"));
  CHECK(!fs::exists(folder / "none"));
  fs::create_directory(folder / "empty");
  CHECK(contains(refusal(folder / "empty", Mode::resume), "nothing to resume"));

  fs::create_directory(folder / "own");
  put(folder / "own/notes.txt", "mine");
  CHECK_NOTHROW(RunFolder(folder / "own", Mode::fresh));
  put(folder / "own/metrics.jsonl", "{\"step\":1}\n");
  CHECK(contains(refusal(folder / "own", Mode::fresh), "the metrics of an earlier run"));
  RunFolder anew(folder / "own", Mode::either);
  CHECK(!anew.resume_point());
  CHECK(contains(anew.take_warnings(), "ended before its first checkpoint. Its steps are lost"));
  save_run(folder / "used", {7});
  CHECK(contains(refusal(folder / "used", Mode::fresh), "a run that has reached step 7"));
  CHECK(get(folder / "own/notes.txt") == "mine");

  fs::create_directory(folder / "others");
  put(folder / "others/metrics.jsonl", "{\"step\":1}\n");  // and no lock of a run
  for (Mode mode : {Mode::either, Mode::fresh, Mode::either})
    CHECK(contains(refusal(folder / "others", mode), "the metrics of an earlier run"));
  CHECK(!fs::exists(folder / "others/lock"));
  CHECK(get(folder / "others/metrics.jsonl") == "{\"step\":1}\n");

  put(folder / "file", "");
  CHECK(contains(refusal(folder / "file", Mode::fresh), (folder / "file").string()));
  CHECK(contains(refusal(folder / "file/below", Mode::fresh), "Not a directory"));
}

TEST_CASE("damaged checkpoints are passed over, kept under another name and told of") {
  TemporaryFolder folder;
  {
    RunFolder run(folder / "run", Mode::fresh, 4);
    save(run, 10);
    save(run, 20);
    save(run, 30);
    save(run, 40, true);
  }
  damage(folder / "run/step-00000040/manifest.json");
  damage(folder / "run/step-00000030/model.safetensors");
  {
    RunFolder run(folder / "run", Mode::resume, 2);
    CHECK(run.resume_point()->step() == 20);
    CHECK(fs::read_symlink(folder / "run/last") == "step-00000020");
    CHECK(!fs::is_symlink(folder / "run/best"));
    std::string warnings = run.take_warnings();
    CHECK(contains(warnings, "step-00000040 cannot be used: its manifest.json is damaged"));
    CHECK(contains(warnings, "step-00000030 cannot be used: model.safetensors is damaged"));
    CHECK(contains(warnings, "step-00000030.damaged."));
    CHECK(run.take_warnings() == "");
    CHECK(fs::exists(folder / "run/step-00000040.damaged/model.safetensors"));
    save(run, 30);
    CHECK(CheckpointReader(folder / "run/last").step() == 30);
    CHECK(fs::exists(folder / "run/step-00000020"));
  }
  damage(folder / "run/step-00000030/model.safetensors");
  RunFolder again(folder / "run", Mode::resume);
  CHECK(fs::exists(folder / "run/step-00000030.damaged-2"));
}

TEST_CASE("a run of which no checkpoint is good is an error, and nothing in it changes") {
  TemporaryFolder folder;
  save_run(folder / "run", {10});
  damage(folder / "run/step-00000010/model.safetensors");
  for (Mode mode : {Mode::resume, Mode::either}) {
    std::string text = refusal(folder / "run", mode);
    CHECK(contains(text, "none of its checkpoints is good"));
    CHECK(contains(text, "model.safetensors is damaged"));
    CHECK(!contains(text, "such as"));
  }
  CHECK(fs::exists(folder / "run/step-00000010/model.safetensors"));
}

TEST_CASE("a checkpoint of a newer Sinter is refused, and no older one takes its place") {
  TemporaryFolder folder;
  save_run(folder / "run", {10, 20});
  std::string rest =
      "\",\n\"format\":\"sinter-checkpoint\",\"version\":3,\"sinter\":\"9.8.7\",\"all\":\"else\"}";
  put(folder / "run/step-00000020/manifest.json", "{\"checksum\":\"" + hash_of(rest) + rest);
  for (Mode mode : {Mode::resume, Mode::either}) {
    std::string text = refusal(folder / "run", mode);
    CHECK(contains(text, "version 3 (written by Sinter 9.8.7)"));
    CHECK(contains(text, "Use Sinter 9.8.7 or a newer one, or another checkpoint."));
    CHECK(contains(text, "Nothing was changed in " + (folder / "run").string()));
  }
  CHECK(fs::read_symlink(folder / "run/last") == "step-00000020");
  CHECK(step_folders(folder / "run").size() == 2);
}

TEST_CASE("a checkpoint under another step's name is not trusted") {
  TemporaryFolder folder;
  save_run(folder / "run", {10});
  fs::copy(folder / "run/step-00000010", folder / "run/step-00000099", fs::copy_options::recursive);
  RunFolder run(folder / "run", Mode::resume);
  CHECK(run.resume_point()->step() == 10);
  CHECK(contains(run.take_warnings(), "is of step 10, which is not its name's"));
}

TEST_CASE("remains of crashed saves are mended: temporary names, links, a replaced folder") {
  TemporaryFolder folder;
  save_run(folder / "run", {10, 20});
  fs::path path = folder / "run";
  fs::create_directory(path / ".step-00000030.tmp-12");
  put(path / ".step-00000030.tmp-12/model.safetensors", "half");
  fs::create_symlink("step-00000030", path / ".last.tmp-12");
  put(path / ".metrics.jsonl.tmp-12", "half");
  put(path / ".hidden", "the user's");
  fs::rename(path / "step-00000020", path / ".step-00000020.old-12");
  fs::create_symlink("step-00000077", path / "best");
  {
    RunFolder run(path, Mode::resume);
    CHECK(run.resume_point()->step() == 20);
    CHECK(hidden_entries(path) == 1);
    CHECK(fs::read_symlink(path / "last") == "step-00000020");
    CHECK(!fs::is_symlink(path / "best"));
  }
  fs::remove(path / "last");
  fs::create_directory(path / "last");
  CHECK(contains(refusal(path, Mode::resume), "is not a link"));
}

TEST_CASE("a live run's folder is refused with its pid, a dead run's is free") {
  TemporaryFolder folder;
  {
    RunFolder mine(folder / "run", Mode::fresh);
    CHECK(contains(refusal(folder / "run", Mode::fresh),
                   "in use by a live run: pid " + std::to_string(::getpid()) + " on "));
  }
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  pid_t child = ::fork();
  if (child == 0) {
    RunFolder theirs(folder / "run", Mode::either);
    [[maybe_unused]] ssize_t put = ::write(ready[1], "r", 1);
    for (;;) ::pause();
  }
  char byte;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  for (Mode mode : {Mode::fresh, Mode::resume, Mode::either})
    CHECK(contains(refusal(folder / "run", mode), "pid " + std::to_string(child) + " on "));
  REQUIRE(::kill(child, SIGKILL) == 0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK_NOTHROW(RunFolder(folder / "run", Mode::either));
  ::close(ready[0]);
  ::close(ready[1]);
}

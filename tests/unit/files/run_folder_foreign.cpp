// SPDX-License-Identifier: Apache-2.0
// What lies in a run's folder that no run has put there: links, pipes, other programs' files.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "sinter/files/metrics_log.hpp"
#include "unit/files/runs.hpp"

namespace sinter::detail::testing::run_folder_foreign_tests {

TEST_CASE("no link is followed to a file of a run") {
  TemporaryFolder folder;
  put(folder / "victim", "the user's");
  fs::create_directory(folder / "run");
  for (const char* target : {"../victim", "../nothing"}) {
    CAPTURE(target);
    fs::create_symlink(target, folder / "run/lock");
    std::string text = refusal(folder / "run", Mode::fresh);
    CHECK(contains(text, "lock is a link, and none is followed to a file of a run. Move it away"));
    fs::remove(folder / "run/lock");

    fs::create_symlink(target, folder / "run/metrics.jsonl");
    text = message_of([&] { MetricsLog log(folder / "run/metrics.jsonl", 0); });
    CHECK(contains(text, "metrics.jsonl is a link, and none is followed"));
    fs::remove(folder / "run/metrics.jsonl");
  }
  // Whoever may write into the folder can foresee the names of temporaries.
  fs::path log = folder / "run/metrics.jsonl";
  put(log, "{\"step\":1}\n{\"step\":2}\n");
  fs::create_symlink("../victim", temporary_sibling(log));
  MetricsLog resumed(log, 1);
  CHECK(get(log) == "{\"step\":1}\n");
  CHECK(fs::is_regular_file(fs::symlink_status(log)));
  CHECK(get(folder / "victim") == "the user's");
  CHECK(!fs::exists(folder / "nothing"));
}

TEST_CASE("a pipe or a socket in place of a run's file is refused and not waited for") {
  TemporaryFolder folder;
  fs::create_directory(folder / "run");
  for (const char* name : {"lock", "metrics.jsonl"}) {
    fs::path path = folder / "run" / name;
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    CHECK(contains(message_of([&] {
                     RunFolder run(folder / "run", Mode::fresh);
                     MetricsLog log(run.metrics_path(), 0);
                   }),
                   std::string(name) + " is not a regular file"));
    fs::remove(path);
  }
}

TEST_CASE("a file called lock that no run has written is not overwritten") {
  TemporaryFolder folder;
  put(folder / "lock", "dependencies: …\n");
  std::string text = refusal(folder.path(), Mode::fresh);
  CHECK(contains(text, "lock is not the lock of a run, and is not overwritten"));
  CHECK(get(folder / "lock") == "dependencies: …\n");
}

TEST_CASE(
    "files of a run's checkpoints are not links, those of checkpoints from elsewhere may be") {
  TemporaryFolder folder;
  fs::path checkpoint = folder / "run/step-00000020";
  save_run(folder / "run", {10, 20});
  for (const char* name : {"model.safetensors", "manifest.json"}) {
    fs::rename(checkpoint / name, folder / name);
    fs::create_symlink(folder / name, checkpoint / name);
    std::string text = refusal(folder / "run", Mode::resume);
    CHECK(contains(text, std::string(name) + " is a link, and none is followed"));
    CHECK(CheckpointReader(checkpoint).step() == 20);  // as --weights takes it
    fs::remove(checkpoint / name);
    fs::rename(folder / name, checkpoint / name);
  }
  RunFolder run(folder / "run", Mode::resume);
  CHECK(run.resume_point()->step() == 20);
  CHECK(run.take_warnings() == "");
}

TEST_CASE("a run in a folder that is in use for other things touches only what it has made") {
  TemporaryFolder folder;
  const std::vector<std::string> names{
      ".bashrc.old-2", ".mozilla.tmp-2024",  ".step-3.tmp-1",         ".lock.tmp-1",
      ".last.old-1",   ".best.jsonl.tmp-7",  ".steps-00000040.old-1", ".step-00000040x.tmp-1",
      "step-40",       "step-00000040.tmp-1"};
  for (const std::string& name : names) put(folder / name, name);
  fs::create_directory(folder / ".thesis.tmp-5");
  put(folder / ".thesis.tmp-5/chapter", "1");
  for (Mode mode : {Mode::fresh, Mode::either}) {
    fs::create_directory(folder / ".step-00000010.tmp-3");
    put(folder / ".metrics.jsonl.tmp-3", "half");
    RunFolder run(folder.path(), mode);
    CHECK(!fs::exists(folder / ".step-00000010.tmp-3"));
    CHECK(!fs::exists(folder / ".metrics.jsonl.tmp-3"));
    if (mode == Mode::either)
      for (std::int64_t step : {10, 20, 30}) save(run, step);
    for (const std::string& name : names) CHECK(get(folder / name) == name);
    CHECK(get(folder / ".thesis.tmp-5/chapter") == "1");
  }
}

TEST_CASE("a link called last that no run has made is neither swung nor removed") {
  TemporaryFolder folder;
  fs::create_symlink("chapter-7", folder / "last");
  std::string text = refusal(folder.path(), Mode::fresh);
  CHECK(contains(text, "last is a link to chapter-7, which no run has made. Move it away"));
  CHECK(fs::read_symlink(folder / "last") == "chapter-7");
}

TEST_CASE("a checkpoint of another run is neither resumed from, nor replaced, nor removed") {
  TemporaryFolder folder;
  save_run(folder / "run", {10, 20});
  save_run(folder / "other", {10, 30});
  CHECK(CheckpointReader(folder / "run/last").run() !=
        CheckpointReader(folder / "other/last").run());
  CHECK(CheckpointReader(folder / "run/last").run() ==
        CheckpointReader(folder / "run/step-00000010").run());
  auto bring = [&](const char* from, const char* to) {
    fs::copy(folder / "other" / from, folder / "run" / to, fs::copy_options::recursive);
  };
  bring("step-00000030", "step-00000030");
  for (Mode mode : {Mode::resume, Mode::either}) {
    std::string text = refusal(folder / "run", mode);
    CHECK(contains(text, "run/step-00000030 is a checkpoint of another run ("));
    CHECK(contains(text, "Nothing was changed. Move it away; or,"));
  }
  fs::remove_all(folder / "run/step-00000030");
  {  // While the run is live.
    RunFolder run(folder / "run", Mode::resume);
    bring("step-00000030", "step-00000030");
    bring("step-00000010", "step-00000005");
    bring("step-00000030", "step-00000099");
    for (std::int64_t step : {25, 30, 40, 50}) save(run, step);
    CHECK(contains(run.take_warnings(),
                   "step-00000030 is a checkpoint of another run. It was passed "
                   "over and renamed to " +
                       (folder / "run/step-00000030.other-run").string()));
    for (const char* kept : {"step-00000030.other-run", "step-00000005", "step-00000099"})
      CHECK(CheckpointReader(folder / "run" / kept).run() ==
            CheckpointReader(folder / "other/last").run());
    CHECK(CheckpointReader(folder / "run/last").step() == 50);
    CHECK(fs::exists(folder / "run/step-00000040"));
    CHECK(!fs::exists(folder / "run/step-00000025"));
  }
  // Which run a folder is of is known from its lock, or, without it, from its newest checkpoint.
  fs::remove_all(folder / "run/step-00000005");
  fs::remove(folder / "run/lock");
  std::string text = refusal(folder / "run", Mode::resume);
  CHECK(contains(text, "step-00000050 is a checkpoint of another run"));
  fs::remove_all(folder / "run/step-00000099");
  CHECK(RunFolder(folder / "run", Mode::resume).resume_point()->step() == 50);
}

TEST_CASE("checkpoints that do not say of which run they are are anybody's") {
  TemporaryFolder folder;
  for (int step : {10, 20}) {
    CheckpointWriter writer(folder / "run" / step_folder_name(step));
    writer.add_file("model.safetensors", "weights");
    writer.commit(step, "{}");
  }
  for (int step : {30, 40}) {
    RunFolder run(folder / "run", Mode::resume);
    CHECK(run.resume_point()->step() == step - 10);
    save(run, step);
  }
  CHECK(CheckpointReader(folder / "run/step-00000030").run() ==
        CheckpointReader(folder / "run/step-00000040").run());
}

TEST_CASE("text that another process wrote into a lock cannot steer a terminal") {
  TemporaryFolder folder;
  RunFolder run(folder / "run", Mode::fresh);
  std::ofstream(folder / "run/lock") << "pid \x1b[2J 7 on elsewhere\nrun \x1b[2J\n";
  std::string text = refusal(folder / "run", Mode::either);
  CHECK(contains(text, "pid \\x1b[2J 7 on elsewhere."));
}

}  // namespace sinter::detail::testing::run_folder_foreign_tests

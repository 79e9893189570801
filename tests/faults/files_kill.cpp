// SPDX-License-Identifier: Apache-2.0
// A process that saves without pause is killed with SIGKILL at random moments, many times over.
#include <doctest/doctest.h>

#include <chrono>
#include <random>

#include "sinter/files/metrics_log.hpp"
#include "sinter/files/run_folder.hpp"
#include "sinter/files/weights.hpp"
#include "support/killed.hpp"
#include "unit/files/support.hpp"

namespace sinter::detail::testing::files_kill_tests {

/// 300 KB that tell their step.
std::string content_of(std::int64_t step) {
  std::string content;
  for (int k = 0; k < 20'000; ++k) content += "step " + std::to_string(step) + " row;";
  return content;
}

/// Resumes and saves step after step, the resumed one again, so many steps or until it is killed.
void train(const fs::path& path, int steps) {
  RunFolder run(path, RunFolder::Mode::either);
  std::int64_t step = run.resume_point() ? run.resume_point()->step() : 1;
  MetricsLog log(run.metrics_path(), step);
  for (; steps > 0; ++step, --steps) {
    log.append("{\"step\":" + std::to_string(step) + "}");
    auto fill = [step](CheckpointWriter& writer) {
      writer.add_file("model.safetensors", content_of(step));
      writer.add_file("optimizer.safetensors", content_of(-step));
    };
    run.save(step, "{\"step\":" + std::to_string(step) + "}", fill, step % 3 == 0);
  }
}

/// Microseconds that a run of three saves takes on this disk.
useconds_t time_of_saves(const fs::path& path) {
  auto begin = std::chrono::steady_clock::now();
  train(path, 3);
  std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  return static_cast<useconds_t>(time.count());
}

/// The checkpoint is of one step, in all its parts.
void check_content(const CheckpointReader& checkpoint) {
  std::int64_t step = checkpoint.step();
  CHECK(get(checkpoint.file("model.safetensors")) == content_of(step));
  CHECK(get(checkpoint.file("optimizer.safetensors")) == content_of(-step));
  CHECK(checkpoint.info() == "{\"step\":" + std::to_string(step) + "}");
}

TEST_CASE("a run that is killed in the middle of saves goes on from a whole checkpoint") {
  TemporaryFolder folder;
  fs::path path = folder / "run";
  std::mt19937 random(12345);
  std::uniform_int_distribution<useconds_t> moment(0, 2 * time_of_saves(folder / "timed"));
  std::int64_t reached = 0;
  int interrupted = 0, advanced = 0;
  for (int round = 0; round < 40; ++round) {
    CAPTURE(round);
    // It is alive when it is killed: no save failed, no resuming failed.
    kill_at_work([&] { train(path, 1'000'000); }, moment(random));
    if (!fs::exists(path)) continue;

    // As the crash left it: at most a temporary checkpoint, a temporary link, a log being rewritten
    // and a pruned checkpoint remain.
    int left = hidden_entries(path);
    CHECK(left <= 4);
    interrupted += left > 0;
    if (fs::is_symlink(path / "last")) {
      CheckpointReader last(resolve_weights(path / "last").path);
      check_content(last);
      CHECK(last.step() >= reached);
    }
    if (fs::is_symlink(path / "best")) check_content(CheckpointReader(path / "best"));
    for (const StepFolder& step : step_folders(path)) check_content(CheckpointReader(step.folder));

    // As the next run finds it.
    RunFolder run(path, RunFolder::Mode::either);
    CHECK(run.take_warnings() == "");
    CHECK(hidden_entries(path) == 0);
    if (!run.resume_point()) continue;
    check_content(*run.resume_point());
    CHECK(run.resume_point()->step() >= reached);
    advanced += run.resume_point()->step() > reached;
    reached = run.resume_point()->step();
    CHECK(step_folders(path).size() <= 4);
  }
  MESSAGE("40 kills: " << interrupted << " in the middle of a save, reached step " << reached);
  CHECK(interrupted > 0);
  CHECK(advanced > 0);
}

}  // namespace sinter::detail::testing::files_kill_tests

// SPDX-License-Identifier: Apache-2.0
#include "tune/arm.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "files/json.hpp"
#include "sinter/files/io.hpp"
#include "tune/process.hpp"
#include "tune/program.hpp"

namespace sinter::detail::tune {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

std::vector<std::string> train_words(const Arm& arm) {
  std::vector<std::string> words{arm.program, "train"};
  words.insert(words.end(), arm.words.begin(), arm.words.end());
  for (const char* word : {"--eval-every", "0", "--save-every", "0", "--out"})
    words.emplace_back(word);
  words.push_back((arm.scratch / "run").string());
  return words;
}

int lines_of(const fs::path& path) {
  std::ifstream file(path);
  return int(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
}

/// Waits until the process has logged the steps, or ended. False if the time is over, or a signal came.
bool waited_for(Process& process, const fs::path& log, int counted, Clock::time_point deadline) {
  int lines = counted + 1;
  while (!process.has_ended()) {
    if (lines_of(log) >= lines) {
      const int missing = counted - int(measured_by(log, counted).wall_ms.size());
      if (missing <= 0) return true;
      lines += missing;  // some lines are events
    }
    if (stop_asked() || Clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

}  // namespace

double matmul_rate(const Arm& arm, double seconds) {
  fs::create_directories(arm.scratch);
  const fs::path output = arm.scratch / "describe.json";
  Process process({arm.program, "describe", "--json"}, output, "/dev/null");
  if (!process.wait(after(seconds)) || process.status() != 0) return 0;
  return parse_json(read_file(output)).at("matmul").at("flops_per_s").get<double>();
}

Run measured_by(const fs::path& log, int counted) {
  Run run;
  std::vector<double> steps, step_tokens;
  std::ifstream file(log);
  std::string line;
  double before = 0;
  while (int(steps.size()) < counted && std::getline(file, line)) {
    if (file.eof()) break;  // a line without its end is not whole
    const auto row = parse_json(line);
    if (!row.contains("step_ms")) continue;
    const double padding = row.contains("padding") ? row.at("padding").get<double>() : 0;
    const double thousands = row.at("rows").get<double>() * (1 - padding) / 1000;
    const double tokens = row.at("tokens").get<double>();
    const double trained = (tokens - std::exchange(before, tokens)) * (1 - padding);
    const bool is_first = row.at("step").get<int>() == 1;  // it also sets up
    if (is_first || thousands <= 0) continue;
    steps.push_back(row.at("step_ms").get<double>());
    step_tokens.push_back(trained);
    run.wall_ms.push_back(steps.back() / thousands);
    run.cpu_ms.push_back(row.at("step_cpu_ms").get<double>() / thousands);
    run.loss = row.at("loss").is_number() ? row.at("loss").get<double>() : NAN;
  }
  if (steps.empty()) return run;
  run.step_ms = median(steps);
  run.step_tokens = median(step_tokens);
  return run;
}

std::optional<Run> run_arm(const Arm& arm, int row, int counted, double seconds) {
  fs::remove_all(arm.scratch);
  fs::create_directories(arm.scratch);
  const fs::path errors = arm.scratch / "errors.txt", log = arm.scratch / "run" / "metrics.jsonl";
  Process process(train_words(arm), "/dev/null", errors);
  const bool is_whole = waited_for(process, log, counted, after(seconds));
  const bool has_failed = process.has_ended() && process.status() != 0;
  process.end();
  if (!is_whole) {
    fs::remove_all(arm.scratch);
    return std::nullopt;
  }
  Run run = measured_by(log, counted);
  run.row = row;
  run.peak_bytes = process.peak_bytes();
  const std::string failure = failure_text(process.status(), errors);
  fs::remove_all(arm.scratch);
  if (has_failed) require_train_words(process.status(), failure);
  if (has_failed) run.failure = failure;
  if (!has_failed && run.wall_ms.empty()) run.failure = "it ended before it had trained two steps";
  return run;
}

}  // namespace sinter::detail::tune

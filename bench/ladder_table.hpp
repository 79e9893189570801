// SPDX-License-Identifier: Apache-2.0
// The table of bench/ladder.cpp: kept as JSON after each run, so that one that was stopped goes on.
#pragma once
#include <functional>

#include "bars.hpp"
#include "kept_table.hpp"
#include "ladder_run.hpp"
#include "report.hpp"
#include "sinter/files/io.hpp"

namespace sinter::detail::bench::ladder {

using Json = nlohmann::ordered_json;

/// What PyTorch has taken for the baseline's training.
struct PeerRun {
  Seconds training;
  double last_loss;
};
constexpr const char* peer_name = "PyTorch eager, the baseline's training";

inline Json json_of(const PeerRun& run) {
  return {{"train_s", run.training.wall},
          {"train_cpu_s", run.training.cpu},
          {"last_loss", run.last_loss}};
}
inline Json json_of(const Training& training, const Run& run) {
  Json json{{"train_s", run.training.wall},
            {"train_cpu_s", run.training.cpu},
            {"data_wait_s", run.waited},
            {"steps", run.steps},
            {"rows", run.rows},
            {"predictions", run.predictions},
            {"first_loss", run.first_loss},
            {"last_loss", run.last_loss},
            {"planned_bytes", run.planned},
            {"process_bytes", run.resident}};
  for (std::size_t k = 0; k < training.rungs.size(); ++k)
    json["evaluations"].push_back({{"eval_s", run.evaluated[k].time.wall},
                                   {"eval_cpu_s", run.evaluated[k].time.cpu},
                                   {"perplexity", std::exp(run.evaluated[k].loss)},
                                   {"at_once", run.evaluated[k].at_once}});
  return json;
}

/// The runs of all trainings so far, and the rows that their medians make.
class Table {
  std::string path;
  Json all;

 public:
  /// Goes on with the file, if it is there and has the same settings.
  /// throws    Error if it is of other settings
  Table(std::string file, const Json& settings) : path(std::move(file)) {
    all = {{"machine", machine_text()},
           {"commit", commit_text()},
           {"settings", settings},
           {"runs", Json::array()}};
    const Json before = table_before(path, settings, "runs");
    if (!before.is_null()) all["runs"] = before["runs"];
  }

  bool has(const std::string& training, int round) const {
    return std::ranges::any_of(all["runs"], [&](const Json& run) {
      return run["training"] == training && run["round"] == round;
    });
  }
  void add(const std::string& training, int round, const Json& found) {
    Json run{{"training", training}, {"round", round}};
    run.update(found);
    all["runs"].push_back(std::move(run));
    write();
  }
  /// The median over the runs of a training; nothing if it has none.
  std::optional<double> median_of(const std::string& training,
                                  const std::function<double(const Json& run)>& number) const {
    std::vector<double> numbers;
    for (const Json& run : all["runs"])
      if (run["training"] == training) numbers.push_back(number(run));
    return numbers.empty() ? std::nullopt : std::optional(median(std::move(numbers)));
  }
  /// Makes the rows, and writes them beside the runs.
  const Json& finish() {
    all["rows"] = Json::array();
    for (const Training& training : trainings)
      for (std::size_t k = 0; k < training.rungs.size(); ++k) add_row(training, k);
    add_peer();
    write();
    return all["rows"];
  }

 private:
  void write() const {
    if (path.empty()) return;
    write_file_atomically(path, all.dump(2) + "\n");
  }
  std::optional<double> median_of(const std::string& training, const char* name) const {
    return median_of(training, [&](const Json& run) { return double(run[name]); });
  }
  /// How many times as fast as the baseline; null if either was not measured.
  Json times(std::optional<double> baseline, double seconds) const {
    return baseline ? Json(*baseline / seconds) : Json();
  }
  std::optional<double> total_of(const Training& training, std::size_t k) const {
    return median_of(training.name, [&](const Json& run) {
      return double(run["train_s"]) + double(run["evaluations"][k]["eval_s"]);
    });
  }
  void add_row(const Training& training, std::size_t k) {
    const auto of_run = [&](const char* name) { return median_of(training.name, name); };
    const auto of_evaluation = [&](const char* name) {
      return *median_of(training.name,
                        [&](const Json& run) { return double(run["evaluations"][k][name]); });
    };
    const std::optional<double> total = total_of(training, k);
    if (!total) return;
    const Rung& rung = training.rungs[k];
    const Training& padded = trainings.front();
    all["rows"].push_back({{"rung", rung.name},
                           {"train_s", *of_run("train_s")},
                           {"eval_s", of_evaluation("eval_s")},
                           {"total_s", *total},
                           {"train_cpu_s", *of_run("train_cpu_s")},
                           {"eval_cpu_s", of_evaluation("eval_cpu_s")},
                           {"data_wait_s", *of_run("data_wait_s")},
                           {"steps", *of_run("steps")},
                           {"rows", *of_run("rows")},
                           {"planned_bytes", *of_run("planned_bytes")},
                           {"process_bytes", *of_run("process_bytes")},
                           {"perplexity", of_evaluation("perplexity")},
                           {"faster", times(total_of(padded, 0), *total)},
                           {"faster_by_training_cpu",
                            times(median_of(padded.name, "train_cpu_s"), *of_run("train_cpu_s"))},
                           {"tutorial", rung.tutorial > 0 ? Json(rung.tutorial) : Json()},
                           {"tutorial_training",
                            rung.tutorial_training > 0 ? Json(rung.tutorial_training) : Json()}});
  }
  void add_peer() {
    const auto cpu = median_of(peer_name, "train_cpu_s");
    if (!cpu) return;
    const char* padded = trainings.front().name;
    const double apart = std::abs(*median_of(peer_name, "last_loss") -
                                  median_of(padded, "last_loss").value_or(INFINITY));
    all["rows"].push_back(
        {{"rung", peer_name},
         {"train_s", *median_of(peer_name, "train_s")},
         {"train_cpu_s", *cpu},
         {"faster_by_training_cpu", times(median_of(padded, "train_cpu_s"), *cpu)},
         {"loss_difference", apart},
         {"valid", apart < 1e-2}});
  }
};

inline void print(const Json& rows) {
  std::printf(
      "| rung | train_s | eval_s | total_s | processor: train_s | eval_s | steps | perplexity | "
      "faster | the tutorial | training by processor | the tutorial |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (const Json& row : rows) {
    std::printf("| %s ", std::string(row["rung"]).c_str());
    for (const char* name : {"train_s", "eval_s", "total_s", "train_cpu_s", "eval_cpu_s"})
      std::printf("| %s ", cell(row, name, 2).c_str());
    std::printf("| %s | %s ", cell(row, "steps", 0).c_str(), cell(row, "perplexity", 1).c_str());
    for (const char* name : {"faster", "tutorial", "faster_by_training_cpu", "tutorial_training"})
      std::printf("| %s ", cell(row, name, 2).c_str());
    std::printf("|\n");
    if (!row.value("valid", true))
      std::fprintf(stderr, "%s: void, as its last loss is not the baseline's; it differs by %s.\n",
                   std::string(row["rung"]).c_str(), cell(row, "loss_difference", 4).c_str());
  }
}

/// The tutorial's rungs as a picture, its numbers beside ours, and below them the fastest of the others.
inline bool draw(const std::string& path, const Json& rows) {
  std::vector<Bar> bars;
  Bar fastest{"", 0};
  for (const Json& row : rows) {
    if (cell(row, "faster", 2).empty()) continue;
    const std::string name = row["rung"], tutorial = cell(row, "tutorial", 2);
    const double faster = row["faster"];
    if (!tutorial.empty())
      bars.push_back({name + " (the tutorial: " + tutorial + ")", faster});
    else if (faster > fastest.value)
      fastest = {name, faster};
  }
  if (fastest.value > 0) bars.push_back(fastest);
  return write_bars(path, "times as fast as the baseline, evaluation included", bars);
}

}  // namespace sinter::detail::bench::ladder

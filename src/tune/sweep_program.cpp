// SPDX-License-Identifier: Apache-2.0
#include "tune/sweep_program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <filesystem>
#include <limits>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "sinter/files/io.hpp"
#include "tune/process.hpp"
#include "tune/program.hpp"
#include "tune/sweep.hpp"
#include "tune/sweep_text.hpp"

namespace sinter::detail::tune {
namespace {

namespace fs = std::filesystem;
constexpr double seconds_to_save = 60;  // of a run that is asked to end

struct SweepArguments {
  std::string program, json;
  fs::path out;
  std::vector<Swept> options{};
  int trials = 0;  // 0: a grid
  std::uint64_t seed = 0;
  double minutes = std::numeric_limits<double>::infinity();
  std::vector<std::string> train{};
};

SweepArguments sweep_arguments(int argc, char** argv) {
  SweepArguments a;
  a.train = take_train_words(argc, argv);
  CLI::App app;
  std::vector<std::string> sweeps;
  std::string trials, seed, minutes;
  app.add_option("--program", a.program)->required();
  app.add_option("--out", a.out)->required();
  app.add_option("--json", a.json);
  app.add_option("--trials", trials);
  app.add_option("--seed", seed);
  app.add_option("--minutes", minutes);
  app.add_option("--sweep", sweeps)
      ->required()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  parse(app, argc, argv);
  for (const std::string& text : sweeps) {
    a.options.push_back(swept_of(text));
    for (std::size_t k = 0; k + 1 < a.options.size(); ++k)
      if (a.options[k].option == a.options.back().option)
        throw cli::UsageError("--sweep names " + a.options[k].option + " twice.");
  }
  if (!trials.empty()) a.trials = cli::number_of<int>("--trials", trials, 1);
  if (!seed.empty()) a.seed = cli::number_of<std::uint64_t>("--seed", seed, 0);
  if (!seed.empty() && trials.empty())
    throw cli::UsageError("--seed is of --trials N, which draws at random.");
  if (!minutes.empty()) a.minutes = cli::number_of<double>("--minutes", minutes, Range().above(0));
  return a;
}

/// Checks that the binary has the options as flags, and learns which take whole numbers.
void check_options(SweepArguments& a) {
  const auto described = described_by(a.program, a.out);
  std::vector<std::string> known;
  for (const auto& [name, range] : described.at("ranges").items()) known.push_back(name);
  for (Swept& swept : a.options) {
    if (std::ranges::find(known, swept.option) == known.end())
      throw cli::UsageError(
          fmt::format("--sweep: the recipe has no option '{}' that a flag changes. It has {}.",
                      swept.option, fmt::join(known, ", ")));
    swept.is_whole = described.at("options").at(swept.option).is_number_integer();
  }
}

/// All runs of a sweep.
class Trials {
  const SweepArguments& a_;
  const std::vector<Point> points_;
  std::vector<Trial> done_{};
  const std::chrono::steady_clock::time_point end_ = after(60 * a_.minutes);

  std::vector<std::string> words_of(const Trial& trial) const {
    std::vector<std::string> words{a_.program, "train"};
    words.insert(words.end(), a_.train.begin(), a_.train.end());
    for (std::size_t k = 0; k < trial.values.size(); ++k) {
      words.push_back("--" + a_.options[k].option);
      words.push_back(trial.values[k]);
    }
    for (const std::string& word : {std::string("--resume"), std::string("auto"),
                                    std::string("--out"), trial.folder.string()})
      words.push_back(word);
    return words;
  }
  /// Trains; false if it was stopped before the end, which is saved for the next time.
  bool train(Trial& trial) const {
    const fs::path errors = a_.out / "errors.txt";
    Process process(words_of(trial), "/dev/null", errors);
    if (!process.wait(end_)) {
      process.interrupt(seconds_to_save);
      fs::remove(errors);
      return false;
    }
    if (process.status() != 0) trial.failure = failure_text(process.status(), errors);
    fs::remove(errors);
    require_train_words(process.status(), trial.failure);
    return true;
  }

 public:
  explicit Trials(const SweepArguments& a)
      : a_(a),
        points_(a.trials ? random_points(a.options, a.trials, a.seed) : grid_points(a.options)) {}

  std::size_t count() const { return points_.size(); }
  const std::vector<Trial>& done() const { return done_; }

  void run() {
    for (const Point& point : points_) {
      Trial trial{point, a_.out / run_name(a_.options, point)};
      if (!train(trial)) return;
      if (trial.failure.empty()) trial.log = report::read_run(trial.folder);
      done_.push_back(std::move(trial));
      cli::note(fmt::format("{} of {}: {}", done_.size(), points_.size(),
                            line_text(a_.options, done_.back())));
    }
  }
};

/// Writes the page of all runs, as `report` does.
void write_page(const SweepArguments& a, const std::vector<Trial>& trials) {
  const fs::path page = a.out / "report.html", errors = a.out / "errors.txt";
  std::vector<std::string> words{a.program, "report"};
  for (const Trial& trial : trials)
    if (trial.failure.empty()) words.push_back(trial.folder.string());
  words.insert(words.end(), {"--out", page.string()});
  Process process(words, "/dev/null", errors);
  if (process.wait(after(seconds_to_save)) && process.status() == 0)
    cli::print_result(fmt::format("the runs side by side: {}\n", page.string()));
  else if (!stop_asked())
    cli::note("note: no page: " + failure_text(process.status(), errors));
  fs::remove(errors);
}

int sweep(SweepArguments a) {
  fs::create_directories(a.out);
  catch_stops();
  check_options(a);
  Trials trials(a);
  trials.run();
  const SweepStanding standing{a.options, trials.done(), trials.count()};
  if (!a.json.empty()) write_file_atomically(a.json, sweep_json(standing).dump(1) + "\n");
  cli::print_result(sweep_text(standing));
  if (stop_asked()) return 128 + stop_asked();
  if (!best_trial(standing)) return cli::exit_error;
  write_page(a, trials.done());
  return cli::exit_done;
}

}  // namespace

int run_sweep(int argc, char** argv) {
  return run_program([&] { return sweep(sweep_arguments(argc, argv)); });
}

}  // namespace sinter::detail::tune

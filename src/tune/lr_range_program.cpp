// SPDX-License-Identifier: Apache-2.0
#include "tune/lr_range_program.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <filesystem>
#include <limits>
#include <thread>

#include "cli/numbers.hpp"
#include "cli/output.hpp"
#include "cli/verbs.hpp"
#include "sinter/files/io.hpp"
#include "tune/lr_range_text.hpp"
#include "tune/process.hpp"
#include "tune/program.hpp"

namespace sinter::detail::tune {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct LrArguments {
  std::string program, json;
  fs::path out;
  NumberRange rates;
  double minutes = std::numeric_limits<double>::infinity();
  std::vector<std::string> train{};

  fs::path run() const { return out / "scratch"; }
  fs::path errors() const { return out / "errors.txt"; }
};

LrArguments lr_arguments(int argc, char** argv) {
  LrArguments a;
  a.train = take_train_words(argc, argv);
  CLI::App app;
  std::string rates, minutes;
  app.add_option("--program", a.program)->required();
  app.add_option("--rates", rates)->required();
  app.add_option("--out", a.out)->required();
  app.add_option("--minutes", minutes);
  app.add_option("--json", a.json);
  parse(app, argc, argv);
  a.rates = lr_range_in(rates);
  if (!minutes.empty()) a.minutes = cli::number_of<double>("--minutes", minutes, Range().above(0));
  return a;
}

/// The options of the recipe's optimizer that are rates, optimizer.lr first.
/// throws    Error if a flag cannot change optimizer.lr
std::vector<std::pair<std::string, double>> own_rates(const LrArguments& a) {
  const std::string first = "optimizer.lr";
  const auto described = described_by(a.program, a.out);
  const auto& options = described.at("options");
  const auto& ranges = described.at("ranges");
  if (!ranges.contains(first) || options.at(first).get<double>() == 0)
    throw Error(fmt::format(
        "--lr-range: the optimizer {} has no option lr above 0 that a flag changes, so there is no "
        "rate to raise. Give the recipe an optimizer that has one, such as AdamW<{{.lr = 1e-3}}>.",
        described.at("policies").at("optimizer").get<std::string>()));
  std::vector<std::pair<std::string, double>> rates{{first, options.at(first).get<double>()}};
  for (const auto& [name, range] : ranges.items())
    if (name.starts_with("optimizer.") && name.ends_with("_lr"))
      rates.emplace_back(name, options.at(name).get<double>());
  return rates;
}

/// Refuses words of train that the test itself gives.
void require_free(const std::vector<std::string>& words,
                  const std::vector<std::pair<std::string, double>>& rates) {
  std::vector<std::string> taken{"--steps", "--epochs", "--examples", "--out", "--resume"};
  for (const auto& [option, value] : rates) taken.push_back("--" + option);
  for (const std::string& word : words)
    for (const std::string& flag : taken)
      if (word == flag || word.starts_with(flag + "="))
        throw cli::UsageError("--lr-range gives " + flag + " itself: leave it out behind --.");
}

std::vector<std::string> words_of(const LrArguments& a, double own) {
  std::vector<std::string> words{a.program, "train"};
  words.insert(words.end(), a.train.begin(), a.train.end());
  for (const std::string& word :
       {std::string("--steps"), std::to_string(a.rates.count), std::string("--schedule.low"),
        fmt::format("{}", a.rates.low / own), std::string("--schedule.high"),
        fmt::format("{}", a.rates.high / own), std::string("--eval-every"), std::string("0"),
        std::string("--save-every"), std::string("0"), std::string("--out"), a.run().string()})
    words.push_back(word);
  return words;
}

LrRange range_so_far(const LrArguments& a) {
  if (!fs::exists(a.run() / "metrics.jsonl")) return {};
  return lr_range_of(report::read_run(a.run()).rows, a.rates);
}

/// Trains until the end, a divergence, or a stop. A run that ends as its loss is no number has diverged.
LrRange train(const LrArguments& a, double own) {
  fs::remove_all(a.run());
  Process process(words_of(a, own), "/dev/null", a.errors());
  const Clock::time_point end = after(60 * a.minutes);
  while (!process.has_ended()) {
    if (stop_asked() || Clock::now() > end || range_so_far(a).has_diverged) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  const bool ended_itself = process.has_ended();
  process.end();
  LrRange range = range_so_far(a);
  const std::string failure = failure_text(process.status(), a.errors());
  fs::remove_all(a.run());
  fs::remove(a.errors());
  if (!ended_itself || process.status() == 0) return range;
  require_train_words(process.status(), failure);
  const bool diverged =
      WIFEXITED(process.status()) && WEXITSTATUS(process.status()) == cli::exit_diverged;
  if (!diverged) throw Error("train failed: " + failure);
  if (range.steps.empty())
    throw Error("train failed before it had trained a step, at the lowest rate: " + failure);
  range.has_diverged = true;
  return range;
}

int test_range(const std::string& recipe, const LrArguments& a) {
  fs::create_directories(a.out);
  catch_stops();
  LrTest test{recipe, a.rates, own_rates(a), {}};
  require_free(a.train, test.own);
  test.range = train(a, test.own.front().second);
  if (!a.json.empty()) write_file_atomically(a.json, lr_json(test).dump(1) + "\n");
  cli::print_result(lr_text(test));
  if (!test.range.steps.empty()) {
    const fs::path picture = a.out / "lr_range.svg";
    write_file_atomically(picture, lr_svg(test));
    cli::print_result(fmt::format("drawn in {}\n", picture.string()));
  }
  if (stop_asked()) return 128 + stop_asked();
  return test.range.steepest ? cli::exit_done : cli::exit_error;
}

}  // namespace

int run_lr_range(const std::string& recipe, int argc, char** argv) {
  return run_program([&] { return test_range(recipe, lr_arguments(argc, argv)); });
}

}  // namespace sinter::detail::tune

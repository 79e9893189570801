// SPDX-License-Identifier: Apache-2.0
#include "tune/sweep_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "files/json_number.hpp"
#include "report/headline.hpp"
#include "sinter/data/unit.hpp"

namespace sinter::detail::tune {
namespace {

using Json = nlohmann::ordered_json;

/// The runs that trained, with their figures and what compares them.
struct Compared {
  std::vector<std::size_t> trials{};  // numbers of SweepStanding::trials
  std::vector<report::RunLog> logs{};
  std::vector<report::Figures> figures{};
  report::Measure measure{};

  explicit Compared(const SweepStanding& s) {
    for (std::size_t k = 0; k < s.trials.size(); ++k) {
      if (!s.trials[k].failure.empty()) continue;
      trials.push_back(k);
      logs.push_back(s.trials[k].log);
      figures.push_back(report::figures_of(s.trials[k].log));
    }
    measure = report::measure_of(logs, figures);
  }
  /// The number of the best trial; none if no run has trained.
  std::optional<std::size_t> best() const {
    const auto run = report::best_of(logs, figures);
    return run ? std::optional(trials[*run]) : std::nullopt;
  }
  double value(std::size_t run) const { return figures[run].*measure.value; }
  /// The runs, the best first; those without a value last.
  std::vector<std::size_t> order() const {
    std::vector<std::size_t> runs(trials.size());
    for (std::size_t k = 0; k < runs.size(); ++k) runs[k] = k;
    std::ranges::sort(runs, {}, [&](std::size_t k) {
      const double v = measure.greater_is_better ? -value(k) : value(k);
      return std::pair(std::isfinite(v) ? v : std::numeric_limits<double>::infinity(), k);
    });
    return runs;
  }
};

std::string flags_of(const std::vector<Swept>& options, const Point& values) {
  std::string text;
  for (std::size_t k = 0; k < values.size(); ++k)
    text += fmt::format("{}--{} {}", k ? " " : "", options[k].option, values[k]);
  return text;
}

Json json_of(const std::string& value) {
  if (value == "true" || value == "false") return value == "true";
  return std::strtod(value.c_str(), nullptr);
}

/// Says of each option whose best value is the lowest or highest of several that the best may lie beyond.
std::string notes_on_ends(const SweepStanding& s, const Point& best) {
  std::string text;
  for (std::size_t k = 0; k < best.size(); ++k) {
    std::vector<double> tried;
    for (const Trial& trial : s.trials)
      tried.push_back(std::strtod(trial.values[k].c_str(), nullptr));
    const double value = std::strtod(best[k].c_str(), nullptr);
    const auto [low, high] = std::ranges::minmax(tried);
    if (low == high || (value != low && value != high)) continue;
    text +=
        fmt::format("note: the best {} is the {} that was tried; the best of all may lie beyond\n",
                    s.options[k].option, value == low ? "lowest" : "highest");
  }
  return text;
}

}  // namespace

std::string run_name(const std::vector<Swept>& options, const Point& values) {
  std::string name;
  for (std::size_t k = 0; k < values.size(); ++k)
    name += fmt::format("{}{}={}", k ? "," : "", options[k].option, values[k]);
  return name;
}

std::optional<std::size_t> best_trial(const SweepStanding& s) { return Compared(s).best(); }

std::string line_text(const std::vector<Swept>& options, const Trial& trial) {
  const std::string name = run_name(options, trial.values);
  if (!trial.failure.empty()) return fmt::format("{} failed: {}", name, trial.failure);
  const report::Figures figures = report::figures_of(trial.log);
  std::string text = fmt::format("{}: loss {:.4f}", name, figures.settled);
  if (std::isfinite(figures.best)) text += fmt::format(", validation loss {:.4f}", figures.best);
  return text;
}

std::string sweep_text(const SweepStanding& s) {
  const Compared compared(s);
  std::string text;
  const bool by_training = compared.measure.name == "loss";  // one column is enough
  if (!compared.trials.empty())
    text = fmt::format("{:>12}{:>12}{:>12}  with\n", compared.measure.name,
                       by_training ? "" : "loss", "steps");
  for (const std::size_t run : compared.order()) {
    const report::Figures& figures = compared.figures[run];
    text += fmt::format("{:>12.4f}{:>12}{:>12}  {}\n", compared.value(run),
                        by_training ? "" : fmt::format("{:.4f}", figures.settled),
                        thousands(figures.steps),
                        flags_of(s.options, s.trials[compared.trials[run]].values));
  }
  for (const Trial& trial : s.trials)
    if (!trial.failure.empty()) text += line_text(s.options, trial) + "\n";
  if (s.trials.size() < s.planned)
    text += fmt::format("{} of {} runs have ended. The same command goes on\n", s.trials.size(),
                        s.planned);
  const auto best = compared.best();
  if (!best) return text + "no run has trained to its end\n";
  const Point& values = s.trials[*best].values;
  return text +
         fmt::format("best by {}: {}\n", compared.measure.name, flags_of(s.options, values)) +
         notes_on_ends(s, values);
}

Json sweep_json(const SweepStanding& s) {
  const Compared compared(s);
  const auto best = compared.best();
  Json runs = Json::array();
  for (std::size_t k = 0, run = 0; k < s.trials.size(); ++k) {
    const Trial& trial = s.trials[k];
    Json entry{{"folder", trial.folder.string()}, {"options", Json::object()}};
    for (std::size_t o = 0; o < s.options.size(); ++o)
      entry["options"][s.options[o].option] = json_of(trial.values[o]);
    if (trial.failure.empty()) {
      entry["steps"] = compared.figures[run].steps;
      entry["loss"] = finite_or_null(compared.figures[run].settled);
      entry[compared.measure.name] = finite_or_null(compared.value(run++));
    } else {
      entry["failure"] = trial.failure;
    }
    runs.push_back(std::move(entry));
  }
  return {{"by", compared.measure.name},
          {"greater_is_better", compared.measure.greater_is_better},
          {"planned", s.planned},
          {"best", best ? Json(*best) : Json(nullptr)},
          {"runs", std::move(runs)}};
}

}  // namespace sinter::detail::tune

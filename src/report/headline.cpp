// SPDX-License-Identifier: Apache-2.0
#include "report/headline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sinter/data/unit.hpp"

namespace sinter::detail::report {
namespace {

bool was_evaluated(const Figures& f) { return std::isfinite(f.best) || std::isfinite(f.chosen); }

/// True if all runs that were evaluated have their checkpoints chosen by one metric.
bool share_a_metric(std::span<const RunLog> runs, std::span<const Figures> figures,
                    const RunLog& first) {
  for (std::size_t k = 0; k < runs.size(); ++k)
    if (was_evaluated(figures[k]) &&
        (!std::isfinite(figures[k].chosen) || runs[k].best_by != first.best_by ||
         runs[k].greater_is_better != first.greater_is_better))
      return false;
  return true;
}

std::optional<std::size_t> best_but(const Measure& measure, std::span<const Figures> figures,
                                    std::optional<std::size_t> but = {}) {
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < figures.size(); ++k) {
    const double value = figures[k].*measure.value;
    if (k == but || !std::isfinite(value)) continue;
    const double held = found ? figures[*found].*measure.value : 0;
    if (!found || (measure.greater_is_better ? value > held : value < held)) found = k;
  }
  return found;
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  for (const auto& part : std::filesystem::path(name).lexically_normal())
    if (!part.empty()) parts.push_back(part.string());
  return parts;
}

bool are_of_one_recipe(std::span<const RunLog> runs) {
  return std::ranges::all_of(runs,
                             [&](const RunLog& run) { return run.recipe == runs.front().recipe; });
}

}  // namespace

std::vector<std::string> labels_of(std::span<const RunLog> runs) {
  std::vector<std::string> labels;
  for (const RunLog& run : runs) labels.push_back(run.name);
  if (runs.size() < 2) return labels;
  std::vector<std::vector<std::string>> parts;
  for (const RunLog& run : runs) parts.push_back(parts_of(run.name));
  std::size_t shared = 0;
  auto is_shared = [&](const auto& one) {
    return one.size() > shared + 1 && one[shared] == parts.front()[shared];
  };
  while (std::ranges::all_of(parts, is_shared)) ++shared;
  for (std::size_t k = 0; k < runs.size() && shared > 0; ++k) {
    std::filesystem::path rest;
    for (std::size_t p = shared; p < parts[k].size(); ++p) rest /= parts[k][p];
    labels[k] = rest.string();
  }
  return labels;
}

Measure measure_of(std::span<const RunLog> runs, std::span<const Figures> figures) {
  const auto first = std::ranges::find_if(figures, was_evaluated);
  if (first == figures.end()) return {&Figures::settled, "loss", false};
  const RunLog& run = runs[std::size_t(first - figures.begin())];
  if (run.best_by.empty() || !share_a_metric(runs, figures, run))
    return {&Figures::best, "val_loss", false};
  return {&Figures::chosen, "val_" + run.best_by, run.greater_is_better};
}

std::optional<std::size_t> best_of(std::span<const RunLog> runs, std::span<const Figures> figures) {
  return best_but(measure_of(runs, figures), figures);
}

std::string headline_of(std::span<const RunLog> runs, std::span<const std::string> labels,
                        std::span<const Figures> figures) {
  const Measure measure = measure_of(runs, figures);
  const auto best = best_but(measure, figures);
  if (!best) return "";
  const Figures& of = figures[*best];
  const double value = of.*measure.value;
  std::string text = runs.size() > 1 ? fmt::format("Best run: {}. Its ", labels[*best]) : "The ";
  if (measure.value == &Figures::settled) {
    text += fmt::format("training loss after {} steps is {:.4f}, smoothed. No evaluation was made.",
                        thousands(of.steps), value);
  } else {
    const bool chosen = measure.value == &Figures::chosen;
    text += fmt::format("{} {} is {:.4f}, at step {} of {}.",
                        measure.greater_is_better ? "highest" : "lowest",
                        chosen ? runs[*best].best_by : "validation loss", value,
                        thousands(chosen ? of.chosen_step : of.best_step), thousands(of.steps));
  }
  if (const auto next = best_but(measure, figures, best))
    text += fmt::format(" Next is {} with {:.4f}.", labels[*next], figures[*next].*measure.value);
  if (!are_of_one_recipe(runs))
    text += " The runs are of several recipes, whose losses may not compare.";
  return text;
}

}  // namespace sinter::detail::report

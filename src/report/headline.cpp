// SPDX-License-Identifier: Apache-2.0
#include "report/headline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sinter/data/unit.hpp"

namespace sinter::detail::report {
namespace {

using Losses = std::vector<double>;

bool any_evaluated(std::span<const Figures> figures) {
  return std::ranges::any_of(figures, [](const Figures& f) { return std::isfinite(f.best); });
}

/// The losses by which runs are compared; NaN for a run that has none.
Losses compared(std::span<const Figures> figures) {
  const auto which = any_evaluated(figures) ? &Figures::best : &Figures::settled;
  Losses losses;
  for (const Figures& f : figures) losses.push_back(f.*which);
  return losses;
}

std::optional<std::size_t> lowest(const Losses& losses, std::optional<std::size_t> but = {}) {
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < losses.size(); ++k)
    if (k != but && std::isfinite(losses[k]) && (!found || losses[k] < losses[*found])) found = k;
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

std::optional<std::size_t> best_of(std::span<const Figures> figures) {
  return lowest(compared(figures));
}

std::string headline_of(std::span<const RunLog> runs, std::span<const std::string> labels,
                        std::span<const Figures> figures) {
  const auto best = best_of(figures);
  if (!best) return "";
  const Losses losses = compared(figures);
  const Figures& of = figures[*best];
  std::string text = runs.size() > 1 ? fmt::format("Best run: {}. Its ", labels[*best]) : "The ";
  text += any_evaluated(figures)
              ? fmt::format("lowest validation loss is {:.4f}, at step {} of {}.", of.best,
                            thousands(of.best_step), thousands(of.steps))
              : fmt::format(
                    "training loss after {} steps is {:.4f}, smoothed. No evaluation was "
                    "made.",
                    thousands(of.steps), of.settled);
  if (const auto next = lowest(losses, best))
    text += fmt::format(" Next is {} with {:.4f}.", labels[*next], losses[*next]);
  if (!are_of_one_recipe(runs))
    text += " The runs are of several recipes, whose losses may not compare.";
  return text;
}

}  // namespace sinter::detail::report

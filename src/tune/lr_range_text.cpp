// SPDX-License-Identifier: Apache-2.0
#include "tune/lr_range_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/svg.hpp"
#include "sinter/data/unit.hpp"

namespace sinter::detail::tune {
namespace {

using Json = nlohmann::ordered_json;

std::string table(const std::vector<LrStep>& steps) {
  constexpr std::size_t most_lines = 20;
  const std::size_t each = (steps.size() + most_lines - 1) / most_lines;
  std::string text = fmt::format("{:>12}{:>12}{:>12}{:>12}\n", "step", "lr", "loss", "average");
  for (std::size_t k = 0; k < steps.size(); ++k)
    if (k % each == 0 || k + 1 == steps.size())
      text += fmt::format("{:>12}{:>12.3g}{:>12.4f}{:>12.4f}\n", thousands(steps[k].step),
                          steps[k].rate, steps[k].loss, steps[k].average);
  return text;
}

std::string end_text(const LrTest& test) {
  const std::vector<LrStep>& steps = test.range.steps;
  const int planned = test.rates.count;
  if (test.range.has_diverged)
    return fmt::format(
        "ended at step {} of {}: the average rose to 4 times its lowest, or the loss is no "
        "number\n",
        steps.back().step, planned);
  if (steps.back().step < planned)
    return fmt::format("stopped at step {} of {}\n", steps.back().step, planned);
  return "";
}

/// Says if the suggestion is the first or the last step that could be one.
std::string note_on_ends(const LrTest& test) {
  const std::size_t at = *test.range.steepest;
  if (at == first_lr_step(test.rates))
    return "note: that is the lowest rate that counts; the fastest fall may lie below. Lower LOW\n";
  if (at + 2 == test.range.steps.size() && !test.range.has_diverged)
    return "note: that is the highest rate that counts; the fastest fall may lie beyond. Raise "
           "HIGH\n";
  return "";
}

std::string suggestion(const LrTest& test) {
  const LrRange& range = test.range;
  if (!range.steepest)
    return fmt::format(
        "no suggestion: behind the first tenth of {} steps the loss falls nowhere. Try lower rates "
        "or more steps\n",
        test.rates.count);
  std::string flags;
  for (const auto& [option, value] : test.suggested())
    flags += fmt::format(" --{} {:.3g}", option, value);
  return fmt::format("the loss falls the fastest at {:.3g}, and is the lowest at {:.3g}\n",
                     range.steps[*range.steepest].rate, range.steps[*range.lowest].rate) +
         fmt::format("suggested:{}\n", flags) + note_on_ends(test);
}

/// The losses up to the lowest average. Those of a divergence are marked at the edge.
std::optional<report::Limits> axis_of(const LrRange& range) {
  if (range.lowest.value_or(0) == 0) return std::nullopt;  // all of them
  report::Limits axis{range.steps.front().loss, range.steps.front().loss};
  for (std::size_t k = 0; k <= *range.lowest; ++k)
    axis = {std::min(axis.low, range.steps[k].loss), std::max(axis.high, range.steps[k].loss)};
  return axis;
}

}  // namespace

std::vector<std::pair<std::string, double>> LrTest::suggested() const {
  const double factor = range.steps[*range.steepest].rate / own.front().second;
  auto all = own;
  for (auto& [option, value] : all) value *= factor;
  return all;
}

std::string lr_text(const LrTest& test) {
  std::string text = fmt::format("recipe  {}: the rate rises from {:.3g} to {:.3g} in {} steps\n",
                                 test.recipe, test.rates.low, test.rates.high, test.rates.count);
  if (test.range.steps.empty()) return text + "no step has been trained\n";
  return text + table(test.range.steps) + end_text(test) + suggestion(test);
}

Json lr_json(const LrTest& test) {
  const LrRange& range = test.range;
  Json steps = Json::array(), suggested = nullptr;
  for (const LrStep& s : range.steps)
    steps.push_back({{"step", s.step}, {"lr", s.rate}, {"loss", s.loss}, {"average", s.average}});
  if (range.steepest) {
    suggested = Json::object();
    for (const auto& [option, value] : test.suggested()) suggested[option] = value;
  }
  return {{"recipe", test.recipe},
          {"planned", test.rates.count},
          {"has_diverged", range.has_diverged},
          {"suggested", std::move(suggested)},
          {"lowest_at", range.lowest ? Json(range.steps[*range.lowest].rate) : Json(nullptr)},
          {"steps", std::move(steps)}};
}

std::string lr_svg(const LrTest& test) {
  const LrRange& range = test.range;
  report::Curve losses{.name = "loss", .colour = 5}, averages{.name = "average", .colour = 0};
  for (const LrStep& s : range.steps) {
    losses.points.push_back({std::log10(s.rate), s.loss});
    averages.points.push_back({std::log10(s.rate), s.average});
  }
  report::Chart chart{.title = fmt::format("{}: the loss as the rate rises", test.recipe),
                      .x = "optimizer.lr, log10",
                      .y = "loss",
                      .curves = {losses, averages},
                      .axis = axis_of(range)};
  if (range.steepest)
    chart.curves.push_back(
        {.name = fmt::format("suggested: {:.3g}", range.steps[*range.steepest].rate),
         .points = {averages.points[*range.steepest]},
         .colour = 1,
         .marks = true});
  return report::svg_file_of(chart);
}

}  // namespace sinter::detail::tune

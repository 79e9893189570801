// SPDX-License-Identifier: Apache-2.0
#include "report/figures.hpp"

#include <algorithm>
#include <cmath>

namespace sinter::detail::report {
namespace {

constexpr std::size_t max_points = 1000;  // of a curve on a page

/// A curve of each run.
Chart chart_of(std::span<const RunLog> runs, std::string title, std::string y, double Row::* value,
               bool logarithmic) {
  Chart chart{std::move(title), "step", std::move(y), {}, logarithmic, !logarithmic};
  for (std::size_t k = 0; k < runs.size(); ++k)
    chart.curves.push_back({runs[k].name, thinned(column(runs[k], value), max_points), int(k)});
  return chart;
}

Chart loss_chart(std::span<const RunLog> runs) {
  Chart chart{"Loss", "step", "loss", {}, true};
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const int colour = int(runs.size() == 1 ? 0 : k);
    const std::string name = runs.size() == 1 ? "" : runs[k].name + ": ";
    chart.curves.push_back(
        {name + "training", thinned(column(runs[k], &Row::loss), max_points), colour});
    auto validation = thinned(column(runs[k], &Row::validation_loss), max_points);
    if (!validation.empty())
      chart.curves.push_back(
          {name + "validation", std::move(validation), runs.size() == 1 ? 1 : colour, true});
  }
  return chart;
}

}  // namespace

std::vector<Point> column(const RunLog& run, double Row::* value) {
  std::vector<Point> points;
  for (const Row& row : run.rows)
    if (std::isfinite(row.*value)) points.push_back({double(row.step), row.*value});
  return points;
}

/// The upper one of two in the middle; NaN if there is no finite value.
double median_of(const RunLog& run, double Row::* value) {
  std::vector<Point> points = column(run, value);
  if (points.empty()) return Row::none;
  const auto middle = points.begin() + std::ptrdiff_t(points.size() / 2);
  std::ranges::nth_element(points, middle, {}, &Point::y);
  return middle->y;
}

Figures figures_of(const RunLog& run) {
  Figures figures;
  for (const Row& row : run.rows) {
    figures.steps = row.step;
    figures.loss = row.loss;
    if (std::isfinite(row.tokens)) figures.tokens = row.tokens;
    if (std::isfinite(row.step_ms)) figures.seconds += row.step_ms / 1000;
    if (std::isfinite(row.validation_loss) && !(row.validation_loss >= figures.best)) {
      figures.best = row.validation_loss;
      figures.best_step = row.step;
    }
  }
  figures.tokens_per_s = median_of(run, &Row::tokens_per_s);
  figures.examples_per_s = median_of(run, &Row::examples_per_s);
  figures.data_wait = median_of(run, &Row::data_wait_ms) / median_of(run, &Row::step_ms);
  return figures;
}

std::vector<Chart> charts_of(std::span<const RunLog> runs) {
  std::vector<Chart> charts{
      loss_chart(runs),
      chart_of(runs, "Throughput", "tokens per second", &Row::tokens_per_s, false),
      chart_of(runs, "Examples", "examples per second", &Row::examples_per_s, false),
      chart_of(runs, "Wait for data", "milliseconds of a step", &Row::data_wait_ms, false),
      chart_of(runs, "Gradient norm", "norm before clipping", &Row::gradient_norm, true),
      chart_of(runs, "Learning rate", "learning rate", &Row::learning_rate, true)};
  std::erase_if(charts, [](const Chart& chart) { return chart.empty(); });
  return charts;
}

}  // namespace sinter::detail::report

// SPDX-License-Identifier: Apache-2.0
#include "report/figures.hpp"

#include <algorithm>
#include <cmath>

namespace sinter::report {
namespace {

constexpr std::size_t most_points = 1000;  // of a curve on a page

/// A curve of each run.
Chart chart_of(std::span<const RunLog> runs, std::string title, std::string y, double Row::* value,
               bool logarithmic) {
  Chart chart{std::move(title), "step", std::move(y), {}, logarithmic, !logarithmic};
  for (std::size_t k = 0; k < runs.size(); ++k)
    chart.curves.push_back({runs[k].name, thinned(column(runs[k], value), most_points), int(k)});
  return chart;
}

Chart loss_chart(std::span<const RunLog> runs) {
  Chart chart{"Loss", "step", "loss", {}, true};
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const int colour = int(runs.size() == 1 ? 0 : k);
    const std::string name = runs.size() == 1 ? "" : runs[k].name + ": ";
    chart.curves.push_back(
        {name + "training", thinned(column(runs[k], &Row::loss), most_points), colour});
    auto validation = thinned(column(runs[k], &Row::validation_loss), most_points);
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

Figures figures_of(const RunLog& run) {
  Figures figures;
  std::vector<double> rates;
  for (const Row& row : run.rows) {
    figures.steps = row.step;
    figures.loss = row.loss;
    if (std::isfinite(row.tokens)) figures.tokens = row.tokens;
    if (std::isfinite(row.step_ms)) figures.seconds += row.step_ms / 1000;
    if (std::isfinite(row.tokens_per_s)) rates.push_back(row.tokens_per_s);
    if (std::isfinite(row.validation_loss) && !(row.validation_loss >= figures.best)) {
      figures.best = row.validation_loss;
      figures.best_step = row.step;
    }
  }
  if (rates.empty()) return figures;
  const auto middle = rates.begin() + std::ptrdiff_t(rates.size() / 2);
  std::ranges::nth_element(rates, middle);
  figures.tokens_per_s = *middle;
  return figures;
}

std::vector<Chart> charts_of(std::span<const RunLog> runs) {
  std::vector<Chart> charts{
      loss_chart(runs),
      chart_of(runs, "Throughput", "tokens per second", &Row::tokens_per_s, false),
      chart_of(runs, "Gradient norm", "norm before clipping", &Row::gradient_norm, true),
      chart_of(runs, "Learning rate", "learning rate", &Row::learning_rate, true)};
  std::erase_if(charts, [](const Chart& chart) { return chart.empty(); });
  return charts;
}

}  // namespace sinter::report

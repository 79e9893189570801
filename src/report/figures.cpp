// SPDX-License-Identifier: Apache-2.0
#include "report/figures.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "report/series.hpp"
#include "report/smoothing.hpp"

namespace sinter::detail::report {
namespace {

/// The upper one of two in the middle; NaN if there is no finite value.
double median_of(const RunLog& run, double Row::* value) {
  std::vector<Point> points = column(run, value);
  if (points.empty()) return Row::none;
  const auto middle = points.begin() + std::ptrdiff_t(points.size() / 2);
  std::ranges::nth_element(points, middle, {}, &Point::y);
  return middle->y;
}

double settled_loss(const RunLog& run) {
  const Chart chart = training_loss(run);
  const std::vector<Mean>& means = chart.curves.front().means;
  return means.empty() ? Row::none : smoothed(means, usual_weight(values_of(chart))).back().y;
}

/// A curve of each run.
Chart chart_of(std::span<const RunLog> runs, std::span<const std::string> labels, Chart chart,
               double Row::* value, Look look) {
  chart.x = "step";
  chart.from_zero = !chart.logarithmic;
  std::vector<Series> series;
  for (std::size_t k = 0; k < runs.size(); ++k)
    series.push_back({{labels[k], {}, int(k)}, column(runs[k], value)});
  return chart_of_series(std::move(chart), std::move(series), look);
}

/// Training and validation of each run: of one run in two colours, of several in two shades of a
/// colour that is the run's.
Chart loss_chart(std::span<const RunLog> runs, std::span<const std::string> labels) {
  const bool one = runs.size() == 1;
  std::vector<Series> series;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const std::string name = one ? "" : labels[k] + ": ";
    series.push_back({{name + "training", {}, int(k)}, column(runs[k], &Row::loss)});
    Series validation{{name + "validation", {}, one ? 1 : int(k), true, !one},
                      column(runs[k], &Row::validation_loss)};
    if (!validation.all.empty()) series.push_back(std::move(validation));
  }
  return chart_of_series({"Loss", "step", "", {}, true}, std::move(series), Look::noisy);
}

/// A chart for each metric that a run has, with a curve of each run that has it.
void add_metric_charts(std::span<const RunLog> runs, std::span<const std::string> labels,
                       std::vector<Chart>& charts) {
  std::map<std::string, std::vector<Series>> of_metric;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    std::map<std::string, std::vector<Point>> points;
    for (const Row& row : runs[k].rows)
      for (const auto& [name, value] : row.metrics)
        if (std::isfinite(value)) points[name].push_back({double(row.step), value});
    for (auto& [name, all] : points)
      of_metric[name].push_back({{labels[k], {}, int(k), true}, std::move(all)});
  }
  for (auto& [name, series] : of_metric)
    charts.push_back(chart_of_series({"Validation: " + name, "step", "", {}, false},
                                     std::move(series), Look::exact));
}

/// Keeps what an evaluation says of the metric that chooses the checkpoints.
void take_chosen(const RunLog& run, const Row& row, Figures& figures) {
  const auto found = row.metrics.find(run.best_by);
  if (found == row.metrics.end() || !std::isfinite(found->second)) return;
  const bool better =
      run.greater_is_better ? found->second > figures.chosen : found->second < figures.chosen;
  if (!better && std::isfinite(figures.chosen)) return;
  figures.chosen = found->second;
  figures.chosen_step = row.step;
}

}  // namespace

std::vector<Point> column(const RunLog& run, double Row::* value) {
  std::vector<Point> points;
  for (const Row& row : run.rows)
    if (std::isfinite(row.*value)) points.push_back({double(row.step), row.*value});
  return points;
}

Chart training_loss(const RunLog& run) {
  return chart_of_series({"Loss", "step", "", {}, true}, {{{"training"}, column(run, &Row::loss)}},
                         Look::noisy);
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
    take_chosen(run, row, figures);
  }
  figures.settled = settled_loss(run);
  figures.tokens_per_s = median_of(run, &Row::tokens_per_s);
  figures.examples_per_s = median_of(run, &Row::examples_per_s);
  figures.data_wait = median_of(run, &Row::data_wait_ms) / median_of(run, &Row::step_ms);
  return figures;
}

std::vector<Chart> charts_of(std::span<const RunLog> runs, std::span<const std::string> labels) {
  auto of = [&](const char* title, const char* y, double Row::* value, bool logarithmic,
                Look look) {
    return chart_of(runs, labels, {title, "", y, {}, logarithmic}, value, look);
  };
  std::vector<Chart> charts{
      loss_chart(runs, labels),
      of("Throughput", "tokens per second", &Row::tokens_per_s, false, Look::noisy),
      of("Examples", "examples per second", &Row::examples_per_s, false, Look::noisy),
      of("Wait for data", "milliseconds of a step", &Row::data_wait_ms, false, Look::noisy),
      of("Gradient norm", "before clipping", &Row::gradient_norm, true, Look::noisy),
      of("Learning rate", "", &Row::learning_rate, true, Look::exact)};
  add_metric_charts(runs, labels, charts);
  std::erase_if(charts, [](const Chart& chart) { return chart.empty(); });
  return charts;
}

}  // namespace sinter::detail::report

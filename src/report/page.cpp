// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "report/figures.hpp"
#include "report/headline.hpp"
#include "report/memory_text.hpp"
#include "report/page_text.hpp"
#include "report/series.hpp"
#include "report/smoothing.hpp"
#include "report/svg.hpp"
#include "report/table.hpp"
#include "sinter/data/unit.hpp"
#include "sinter/version.hpp"

namespace sinter::detail::report {
namespace {

/// Returns a number with four digits; empty if it is NaN.
std::string digits(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "";
}
/// A count, such as "12,345".
std::string counted(double value) {
  return std::abs(value) < 9e18 ? thousands(std::int64_t(value)) : digits(value);
}

/// What the page shows of runs: their names on it, and their figures.
struct Shown {
  std::vector<std::string> labels;
  std::vector<Figures> figures;
};

/// A time as run.json has it, for people.
std::string in_one_line(std::string date) {
  if (date.size() == 20 && date[10] == 'T' && date[19] == 'Z')
    date = date.substr(0, 10) + " " + date.substr(11, 8);
  return date;
}

std::string runs_table(std::span<const RunLog> runs, const Known& known, const Shown& shown) {
  Table table({"run", "recipe", "steps", "last loss", "lowest validation loss",
               "best by its metric", "tokens", "tokens/s (median)", "GFLOP/s",
               "examples/s (median)", "wait for data (median)", "time in steps", "starts", "begun",
               "Sinter"});
  const auto best = runs.size() > 1 ? best_of(runs, shown.figures) : std::nullopt;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const RunLog& run = runs[k];
    const Figures& f = shown.figures[k];
    const bool rated = known.is_of[k] && std::isfinite(f.tokens_per_s);
    const std::string lowest =
        std::isfinite(f.best) ? fmt::format("{} (step {})", digits(f.best), thousands(f.best_step))
                              : "";
    const std::string chosen = std::isfinite(f.chosen)
                                   ? fmt::format("{} {} (step {})", run.best_by, digits(f.chosen),
                                                 thousands(f.chosen_step))
                                   : "";
    table.add(
        {{shown.labels[k]},
         {run.recipe},
         number_cell(thousands(f.steps)),
         number_cell(digits(f.loss)),
         number_cell(lowest),
         number_cell(chosen),
         number_cell(counted(f.tokens)),
         number_cell(counted(f.tokens_per_s)),
         number_cell(rated ? fmt::format("{:.1f}", f.tokens_per_s * known.flops_per_token / 1e9)
                           : ""),
         number_cell(counted(f.examples_per_s)),
         number_cell(std::isfinite(f.data_wait) ? fmt::format("{:.3g} %", 100 * f.data_wait) : ""),
         number_cell(fmt::format("{:.0f} s", f.seconds)),
         number_cell(std::to_string(run.starts.size())),
         time_cell(run.starts.empty() ? "" : in_one_line(run.starts.front().date)),
         time_cell(run.starts.empty() ? "" : run.starts.back().version)},
        best == k ? "best" : "");
  }
  return table.html();
}

std::string notes_of(std::span<const RunLog> runs, const Shown& shown) {
  std::string text;
  for (std::size_t k = 0; k < runs.size(); ++k)
    for (const std::string& note : runs[k].notes)
      text +=
          fmt::format("<p class=\"note\">{}: {}</p>\n", escaped(shown.labels[k]), escaped(note));
  return text;
}

/// What the reader sets for all charts, or what was set for them.
std::string smoothing_text(double weight, bool scripted) {
  constexpr std::string_view what =
      "an exponential moving average with bias correction. The values themselves are faint; one "
      "beyond an axis counts as its end.";
  if (scripted)
    return fmt::format(
        "<p class=\"smoothing\"><label>Smoothing <input type=\"range\" id=\"smoothing\" min=\"0\" "
        "max=\"0.999\" step=\"0.001\" value=\"{0:.3f}\"> <output id=\"weight\">{0:.3f}</output>"
        "</label> <small>by {1}</small></p>\n",
        weight, what);
  if (weight == 0) return "";
  return fmt::format(
      "<p class=\"smoothing\"><small>Smoothed with weight {:.3f} by {}</small></p>\n", weight,
      what);
}

std::string caption(const Chart& chart, std::size_t number, bool scripted) {
  std::string text = fmt::format("<figcaption>{}", escaped(chart.title));
  if (!chart.y.empty()) text += fmt::format(" <small>{}</small>", escaped(chart.y));
  if (scripted && chart.logarithmic)
    text +=
        fmt::format("<label><input type=\"checkbox\" id=\"log{}\"> logarithmic</label>", number);
  if (scripted && !chart.beyond.empty())
    text += fmt::format("<label><input type=\"checkbox\" id=\"all{}\"> all values</label>", number);
  return text + "</figcaption>\n";
}

std::string figures_text(const std::vector<Chart>& charts, bool scripted) {
  std::size_t values = 0;
  for (const Chart& chart : charts) values = std::max(values, values_of(chart));
  const double weight = usual_weight(values);
  std::string text = values > 0 ? smoothing_text(weight, scripted) : "";
  text += "<div class=\"charts\">\n";
  for (std::size_t k = 0; k < charts.size(); ++k) {
    text += "<figure>" + caption(charts[k], k, scripted);
    text += scripted ? fmt::format("<div class=\"plot\"><canvas id=\"chart{}\"></canvas></div>", k)
                     : svg_of(charts[k], weight);
    if (scripted && !charts[k].beyond.empty())
      text += fmt::format("<p class=\"beyond\">{}</p>", escaped(charts[k].beyond));
    text += "</figure>\n";
  }
  return text + "</div>\n";
}

/// What the runs' checkpoints say of their seeds, policies and options, by name.
using Settings = std::map<std::string, std::string>;
Settings settings_of(const RunLog& run) {
  if (!run.saved) return {};
  Settings settings = run.saved->options;
  settings["seed"] = run.saved->seed;
  for (const std::string& policy : run.saved->policies)
    if (const std::size_t at = policy.find(": "); at != policy.npos)
      settings[policy.substr(0, at)] = policy.substr(at + 2);
  return settings;
}

/// A table of the settings in which a run differs from another, or from the recipe of this binary
/// if it is of it.
std::string differences(std::span<const RunLog> runs, const Known& known, const Shown& shown) {
  std::vector<Settings> all;
  std::set<std::string> names;
  for (const RunLog& run : runs) {
    all.push_back(settings_of(run));
    for (const auto& [name, value] : all.back()) names.insert(name);
  }
  const bool any_known = std::ranges::find(known.is_of, true) != known.is_of.end();
  std::vector<std::string> columns{"option"};
  columns.insert(columns.end(), shown.labels.begin(), shown.labels.end());
  if (any_known) columns.emplace_back("recipe");
  Table table(std::move(columns));
  for (const std::string& name : names) {
    const auto usual = known.defaults.find(name);
    std::vector<Cell> row{{name}};
    std::set<std::string> values;
    bool changed = false;
    for (std::size_t k = 0; k < runs.size(); ++k) {
      const auto found = all[k].find(name);
      row.push_back({found == all[k].end() ? "" : found->second});
      if (!runs[k].saved) continue;
      values.insert(row.back().text);
      changed |= known.is_of[k] && usual != known.defaults.end() && found != all[k].end() &&
                 found->second != usual->second;
    }
    if (values.size() < 2 && !changed) continue;
    if (any_known) row.push_back({usual == known.defaults.end() ? "" : usual->second});
    table.add(row, values.size() > 1 ? "differs" : "");
  }
  return table.empty() ? "<p>None, as far as the checkpoints of these runs tell.</p>\n"
                       : table.html();
}

std::string history(std::span<const RunLog> runs, const Shown& shown) {
  Table table({"run", "step", "what", "when", "more"});
  for (std::size_t k = 0; k < runs.size(); ++k) {
    for (const Start& start : runs[k].starts)
      table.add({{shown.labels[k]},
                 number_cell(thousands(start.step)),
                 {"started"},
                 time_cell(in_one_line(start.date)),
                 {start.command}});
    for (const Happening& one : runs[k].happenings)
      table.add({{shown.labels[k]}, number_cell(thousands(one.step)), {one.what}, {}, {one.text}});
  }
  return table.empty() ? "" : "<h2>What happened</h2>\n" + table.html();
}

/// What the binary knows of its own recipe.
std::string known_text(const Known& known, const Shown& shown) {
  std::string of;
  for (std::size_t k = 0; k < shown.labels.size(); ++k)
    if (known.is_of[k]) of += (of.empty() ? "" : ", ") + shown.labels[k];
  if (of.empty())
    return fmt::format(
        "<h2>Memory and program</h2>\n<p>Not shown: no run here is of the recipe {} as this binary "
        "has it. The binary that trained a run knows its memory and its program.</p>\n",
        escaped(known.recipe));
  std::string text = fmt::format(
      "<h2>Memory</h2>\n<p>As this binary plans the recipe {}. Of the runs, these are of it: "
      "{}.</p>\n"
      "{}",
      escaped(known.recipe), escaped(of), memory_html(known));
  return text + fmt::format("<h2>Plan</h2>\n<pre>{}</pre>\n<h2>Program</h2>\n<pre>{}</pre>\n",
                            escaped(known.plan), escaped(known.program));
}

/// JSON that cannot end the element it stands in.
std::string for_script(const std::vector<Chart>& charts) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Chart& chart : charts) list.push_back(json_of(chart));
  std::string text;
  for (char letter : list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
    text += letter == '<' ? "\\u003c" : std::string(1, letter);
  return text;
}

std::string title_of(std::span<const RunLog> runs) {
  if (runs.size() == 1) return runs.front().name;
  return fmt::format("{} runs", runs.size());
}

std::string head_of(std::string_view title, bool scripted) {
  return fmt::format(
      "{} Made by Sinter {}. -->\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body data-ready=\"{}\">\n<h1>{}</h1>\n",
      page_begin, version(), escaped(title), style, scripted ? "false" : "true", escaped(title));
}
constexpr std::string_view page_end = "</body>\n</html>\n";

}  // namespace

std::string page_of(std::span<const RunLog> runs, const Known& known, std::string_view script) {
  const bool scripted = !script.empty();
  Shown shown{labels_of(runs), {}};
  for (const RunLog& run : runs) shown.figures.push_back(figures_of(run));
  std::vector<Chart> charts = charts_of(runs, shown.labels);
  const bool any_known = std::ranges::find(known.is_of, true) != known.is_of.end();
  if (any_known && known.arena.mebibytes.size() > 1) charts.push_back(memory_chart(known));
  std::string page = head_of(title_of(runs), scripted);
  if (const std::string best = headline_of(runs, shown.labels, shown.figures); !best.empty())
    page += fmt::format("<p class=\"headline\">{}</p>\n", escaped(best));
  page += runs_table(runs, known, shown) + notes_of(runs, shown) + figures_text(charts, scripted);
  page += "<h2>Options that differ</h2>\n" + differences(runs, known, shown) +
          history(runs, shown) + known_text(known, shown);
  if (scripted)
    page += fmt::format(
        "<script type=\"application/json\" id=\"data\">{}</script>\n"
        "<script>\n{}\n</script>\n<script>{}</script>\n",
        for_script(charts), script, draw);
  return page.append(page_end);
}

std::string plain_page(std::string_view title, std::string_view body) {
  return head_of(title, false).append(body).append(page_end);
}

}  // namespace sinter::detail::report

// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "report/figures.hpp"
#include "report/page_text.hpp"
#include "sinter/data/unit.hpp"
#include "sinter/version.hpp"

namespace sinter::detail::report {
namespace {

std::string cell(std::string_view text) { return fmt::format("<td>{}</td>", escaped(text)); }
std::string number(std::string_view text) {
  return fmt::format("<td class=\"number\">{}</td>", escaped(text));
}
std::string head(std::initializer_list<std::string_view> names) {
  std::string row = "<tr>";
  for (std::string_view name : names) row += fmt::format("<th>{}</th>", escaped(name));
  return row + "</tr>\n";
}
std::string table(const std::string& rows) {
  return fmt::format("<div class=\"wide\"><table>\n{}</table></div>\n", rows);
}

/// Returns a number with four digits; empty if it is NaN.
std::string digits(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "";
}
/// A count, such as "12,345".
std::string counted(double value) {
  return std::abs(value) < 9e18 ? thousands(std::int64_t(value)) : digits(value);
}

std::string runs_table(std::span<const RunLog> runs, const Known& known) {
  std::string rows = head({"run", "recipe", "steps", "loss", "lowest validation loss", "tokens",
                           "tokens/s (median)", "GFLOP/s", "examples/s (median)",
                           "wait for data (median)", "time in steps", "starts", "begun", "Sinter"});
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const RunLog& run = runs[k];
    const Figures f = figures_of(run);
    const bool rated = known.is_of[k] && std::isfinite(f.tokens_per_s);
    rows +=
        "<tr>" + cell(run.name) + cell(run.recipe) + number(thousands(f.steps)) +
        number(digits(f.loss)) +
        number(std::isfinite(f.best)
                   ? fmt::format("{} (step {})", digits(f.best), thousands(f.best_step))
                   : "") +
        number(counted(f.tokens)) + number(counted(f.tokens_per_s)) +
        number(rated ? fmt::format("{:.1f}", f.tokens_per_s * known.flops_per_token / 1e9) : "") +
        number(counted(f.examples_per_s)) +
        number(std::isfinite(f.data_wait) ? fmt::format("{:.3g} %", 100 * f.data_wait) : "") +
        number(fmt::format("{:.0f} s", f.seconds)) + number(std::to_string(run.starts.size())) +
        cell(run.starts.empty() ? "" : run.starts.front().date) +
        cell(run.starts.empty() ? "" : run.starts.back().version) + "</tr>\n";
  }
  return table(rows);
}

std::string notes_of(std::span<const RunLog> runs) {
  std::string text;
  for (const RunLog& run : runs)
    for (const std::string& note : run.notes)
      text += fmt::format("<p class=\"note\">{}: {}</p>\n", escaped(run.name), escaped(note));
  return text;
}

std::string figures_text(const std::vector<Chart>& charts, bool scripted) {
  std::string text = "<div class=\"charts\">\n";
  for (std::size_t k = 0; k < charts.size(); ++k) {
    text += fmt::format("<figure><figcaption>{}", escaped(charts[k].title));
    if (scripted && charts[k].logarithmic)
      text += fmt::format("<label><input type=\"checkbox\" id=\"log{}\"> logarithmic</label>", k);
    text += "</figcaption>\n";
    text += scripted ? fmt::format("<div class=\"plot\"><canvas id=\"chart{}\"></canvas></div>", k)
                     : svg_of(charts[k]);
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
std::string differences(std::span<const RunLog> runs, const Known& known) {
  std::vector<Settings> all;
  std::set<std::string> names;
  for (const RunLog& run : runs) {
    all.push_back(settings_of(run));
    for (const auto& [name, value] : all.back()) names.insert(name);
  }
  const bool any_known = std::ranges::find(known.is_of, true) != known.is_of.end();
  std::string rows = "<tr><th>option</th>";
  for (const RunLog& run : runs) rows += fmt::format("<th>{}</th>", escaped(run.name));
  rows += any_known ? "<th>recipe</th></tr>\n" : "</tr>\n";
  int shown = 0;
  for (const std::string& name : names) {
    const auto usual = known.defaults.find(name);
    std::string row;
    std::set<std::string> values;
    bool changed = false;
    for (std::size_t k = 0; k < runs.size(); ++k) {
      const auto found = all[k].find(name);
      row += cell(found == all[k].end() ? "" : found->second);
      if (!runs[k].saved) continue;
      values.insert(found == all[k].end() ? "" : found->second);
      changed |= known.is_of[k] && usual != known.defaults.end() && found != all[k].end() &&
                 found->second != usual->second;
    }
    if (values.size() < 2 && !changed) continue;
    ++shown;
    if (any_known) row += cell(usual == known.defaults.end() ? "" : usual->second);
    rows += fmt::format("<tr{}>{}{}</tr>\n", values.size() > 1 ? " class=\"differs\"" : "",
                        cell(name), row);
  }
  return shown > 0 ? table(rows) : "<p>None, as far as the checkpoints of these runs tell.</p>\n";
}

std::string history(std::span<const RunLog> runs) {
  std::string rows = head({"run", "step", "what", ""});
  bool any = false;
  for (const RunLog& run : runs) {
    auto add = [&](std::int64_t step, std::string_view what, std::string_view text) {
      rows +=
          "<tr>" + cell(run.name) + number(thousands(step)) + cell(what) + cell(text) + "</tr>\n";
      any = true;
    };
    for (const Start& start : run.starts) add(start.step, "started " + start.date, start.command);
    for (const Happening& one : run.happenings) add(one.step, one.what, one.text);
  }
  return any ? "<h2>What happened</h2>\n" + table(rows) : "";
}

std::string memory_table(const Known& known) {
  const double total = std::max<double>(1, double(known.memory.back().second));
  std::string rows = head({"part of the arena", "bytes", "share", ""});
  for (const auto& [name, bytes] : known.memory)
    rows += "<tr>" + cell(name) + number(thousands(bytes)) +
            number(fmt::format("{:.1f} %", 100 * double(bytes) / total)) +
            fmt::format(
                "<td style=\"width:16rem\"><span class=\"bar\" style=\"width:{:.1f}%\"></span>"
                "</td></tr>\n",
                100 * double(bytes) / total);
  return table(rows);
}

/// What the binary knows of its own recipe.
std::string known_text(std::span<const RunLog> runs, const Known& known) {
  std::string of;
  for (std::size_t k = 0; k < runs.size(); ++k)
    if (known.is_of[k]) of += (of.empty() ? "" : ", ") + runs[k].name;
  if (of.empty())
    return fmt::format(
        "<h2>Memory and program</h2>\n<p>Not shown: no run here is of the recipe {} as this binary "
        "has it. The binary that trained a run knows its memory and its program.</p>\n",
        escaped(known.recipe));
  std::string text = fmt::format(
      "<h2>Memory</h2>\n<p>As this binary plans the recipe {}. Of the runs, these are of it: "
      "{}.</p>\n"
      "{}",
      escaped(known.recipe), escaped(of), memory_table(known));
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

}  // namespace

std::string page_of(std::span<const RunLog> runs, const Known& known, std::string_view script) {
  const bool scripted = !script.empty();
  std::vector<Chart> charts = charts_of(runs);
  const bool any_known = std::ranges::find(known.is_of, true) != known.is_of.end();
  if (any_known && known.in_use.size() > 1)
    charts.push_back({"Memory during a step",
                      "instruction of the program",
                      "MiB in use",
                      {{"in use", known.in_use}},
                      false,
                      true});
  std::string page = fmt::format(
      "{} Made by Sinter {}. -->\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body data-ready=\"{}\">\n<h1>{}</h1>\n",
      page_begin, version(), escaped(title_of(runs)), style, scripted ? "false" : "true",
      escaped(title_of(runs)));
  page += runs_table(runs, known) + notes_of(runs) + figures_text(charts, scripted);
  page += "<h2>Options that differ</h2>\n" + differences(runs, known) + history(runs) +
          known_text(runs, known);
  if (scripted)
    page += fmt::format(
        "<script type=\"application/json\" id=\"data\">{}</script>\n"
        "<script>\n{}\n</script>\n<script>{}</script>\n",
        for_script(charts), script, draw);
  return page + "</body>\n</html>\n";
}

}  // namespace sinter::detail::report

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/describe.hpp"
#include "cli/output.hpp"
#include "cli/plan_text.hpp"
#include "cli/verbs.hpp"
#include "files/json_number.hpp"
#include "report/chart_js.hpp"
#include "report/figures.hpp"
#include "report/headline.hpp"
#include "report/page.hpp"
#include "report/terminal.hpp"
#include "sinter/error.hpp"
#include "sinter/files/io.hpp"
#include "trainer/state_json.hpp"

namespace sinter::detail::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using report::RunLog;

/// True if a run is of this recipe: the same name, policies and fixed options.
bool is_of(const RunLog& run, const RecipeView& recipe) {
  if (!run.saved || run.recipe != recipe.name || run.saved->policies != recipe.policies)
    return false;
  return std::ranges::all_of(recipe.options, [&](const Option& option) {
    const auto found = run.saved->options.find(option.dotted());
    return option.adjustable ||
           (found != run.saved->options.end() && found->second == option_value(option).dump());
  });
}

/// Sets the recipe's options to those of a run, if all of them fit.
void take_options(const RunLog& run, RecipeView& recipe) {
  std::vector<Json> before;
  for (const Option& option : recipe.options) before.push_back(option_value(option));
  try {
    for (const Option& option : recipe.options)
      if (const auto found = run.saved->options.find(option.dotted());
          option.adjustable && found != run.saved->options.end())
        set_option_value(option, Json::parse(found->second));
    check_options(recipe);
  } catch (const std::exception&) {
    for (std::size_t k = 0; k < recipe.options.size(); ++k)
      if (recipe.options[k].adjustable) set_option_value(recipe.options[k], before[k]);
  }
}

report::Known known_of(RecipeView& recipe, const std::vector<RunLog>& runs) {
  report::Known known;
  known.recipe = recipe.name;
  for (const RunLog& run : runs) known.is_of.push_back(is_of(run, recipe));
  for (const Option& option : recipe.options)
    known.defaults[option.dotted()] = option_value(option).dump();
  if (const auto first = std::ranges::find(known.is_of, true); first != known.is_of.end())
    take_options(runs[std::size_t(first - known.is_of.begin())], recipe);
  known.plan = recipe_text(recipe) + plan_text(recipe);
  known.program = program_text(recipe);
  known.memory = memory_parts(recipe.plan->memory);
  known.arena = report::arena_use(*recipe.plan);
  known.flops_per_token = double(recipe.plan->flops_per_token);
  return known;
}

/// Refuses to overwrite a file that is not a report of Sinter.
void require_own_or_free(const fs::path& path) {
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(path, ignored).type();
  if (type == fs::file_type::not_found) return;
  if (type == fs::file_type::regular) {
    const InputFile file(path, Links::refused);
    std::string begin(std::min<std::uint64_t>(file.size(), report::page_begin.size()), '\0');
    file.read_at(0, begin.data(), begin.size());
    if (begin.empty() || begin == report::page_begin) return;
  }
  throw FileError(
      fmt::format("{} is there already and is no report of Sinter's. Nothing was written; move it "
                  "away, or name another file with --out FILE.",
                  printable(path.string(), 4096)));
}

std::string json_text(const std::vector<RunLog>& runs, const fs::path& page) {
  Json list = Json::array();
  std::vector<report::Figures> figures;
  for (const RunLog& run : runs) {
    const report::Figures& f = figures.emplace_back(report::figures_of(run));
    const bool chosen = std::isfinite(f.chosen), evaluated = chosen || std::isfinite(f.best);
    Json of_run{{"folder", run.name},   {"recipe", run.recipe},
                {"steps", f.steps},     {"loss", finite_or_null(f.loss)},
                {"best_step", nullptr}, {"lowest_val_loss", finite_or_null(f.best)}};
    if (evaluated) of_run["best_step"] = chosen ? f.chosen_step : f.best_step;
    of_run["best_val_" + (chosen ? run.best_by : "loss")] =
        finite_or_null(chosen ? f.chosen : f.best);
    of_run["tokens_per_s"] = finite_or_null(f.tokens_per_s);
    of_run["examples_per_s"] = finite_or_null(f.examples_per_s);
    of_run["data_wait"] = finite_or_null(f.data_wait);
    of_run["notes"] = run.notes;
    list.push_back(std::move(of_run));
  }
  Json best{{"folder", nullptr}, {"by", report::measure_of(runs, figures).name}};
  if (const auto found = report::best_of(runs, figures)) best["folder"] = runs[*found].name;
  return Json{{"report", printable(page.string(), 4096)}, {"best", best}, {"runs", list}}.dump() +
         "\n";
}

/// Returns a run's figures and the curve of its loss, for the terminal.
std::string terminal_text(const RunLog& run) {
  const report::Figures f = report::figures_of(run);
  std::string text =
      fmt::format("{}: {}, {} steps", run.name,
                  run.recipe.empty() ? "of no known recipe" : run.recipe, thousands(f.steps));
  if (std::isfinite(f.loss)) text += fmt::format(", loss {:.4f}", f.loss);
  if (std::isfinite(f.best))
    text +=
        fmt::format(", lowest validation loss {:.4f} at step {}", f.best, thousands(f.best_step));
  if (std::isfinite(f.tokens_per_s))
    text += fmt::format(", median {}tok/s", metric(f.tokens_per_s));
  if (std::isfinite(f.examples_per_s))
    text += fmt::format(", median {}examples/s", metric(f.examples_per_s));
  if (std::isfinite(f.data_wait))
    text += fmt::format(", {:.3g} % of a step waits for data", 100 * f.data_wait);
  text += "\n";
  const report::Chart loss = report::training_loss(run);
  if (const auto points = report::column(run, &report::Row::loss); !points.empty())
    text += report::curve_text(points, report::letters_of_locale(), loss.axis);
  if (!loss.beyond.empty()) text += fmt::format("note: {}\n", loss.beyond);
  for (const std::string& note : run.notes) text += fmt::format("note: {}\n", note);
  return text;
}

}  // namespace

int make_report(std::shared_ptr<RecipeView> recipe, const Arguments& a) {
  require_flag(!a.runs.empty(), "RUN..., folders of runs", a.verb);
  if (a.text_only && (a.out || a.json))
    throw UsageError(fmt::format("--text and {} exclude each other: it writes no page.",
                                 a.out ? "--out" : "--json"));
  const fs::path page = a.out ? fs::path(*a.out) : fs::path(a.runs.front()) / "report.html";
  std::vector<RunLog> runs;
  for (const std::string& run : a.runs) runs.push_back(report::read_run(run));
  if (a.text_only) {
    for (const RunLog& run : runs) print_result(terminal_text(run));
    return exit_done;
  }
  require_own_or_free(page);
  const report::Known known = known_of(*recipe, runs);
  write_file_atomically(page, report::page_of(runs, known, report::chart_js()));
  if (!a.json)
    for (const RunLog& run : runs)
      for (const std::string& text : run.notes) note_lines(run.name + ": " + text);
  print_result(a.json ? json_text(runs, page)
                      : fmt::format("Wrote {}\n", printable(page.string(), 4096)));
  return exit_done;
}

}  // namespace sinter::detail::cli

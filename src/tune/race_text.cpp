// SPDX-License-Identifier: Apache-2.0
#include "tune/race_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/output.hpp"
#include "files/json_number.hpp"
#include "tune/front.hpp"
#include "tune/tuned_file.hpp"

namespace sinter::detail::tune {
namespace {

using Json = nlohmann::ordered_json;

const Row& row_of(const Grid& grid, int row) { return grid.rows.at(std::size_t(row)); }
std::string with_text(const Grid& grid, int row) { return change_text(row_of(grid, row)); }

std::vector<Run> failed(const std::vector<Run>& runs) {
  std::vector<Run> found;
  std::ranges::copy_if(runs, std::back_inserter(found),
                       [](const Run& run) { return !run.failure.empty(); });
  return found;
}

}  // namespace

std::string share_text(const RowFigures& figures) {
  return figures.matmul_share ? fmt::format("{:.0f} %", 100 * *figures.matmul_share) : "";
}

std::string verdict_text(const Standing& s) {
  if (s.end == RaceEnd::is_sure && order_of(s).size() == 1)
    return "decided: no other has trained\n";
  if (s.end == RaceEnd::is_sure)
    return "decided: of those that ran the longest, none is more than 5 % faster than the first "
           "(95 of 100)\n";
  if (s.end == RaceEnd::after_all_rounds)
    return "not decided after all rounds: equal processes differ too much on this machine\n";
  return "not decided: the race ended before. The same command goes on\n";
}

std::string line_text(const Grid& grid, const Run& run, bool by_wall) {
  const std::string with = with_text(grid, run.row);
  if (!run.failure.empty()) return fmt::format("failed, with {}: {}", with, run.failure);
  const double cost = median(by_wall ? run.wall_ms : run.cpu_ms);
  return fmt::format("{} tokens per second{}, with {}", thousands(std::llround(1e6 / cost)),
                     by_wall ? "" : " of the processor", with);
}

std::string standing_text(const Standing& s) {
  const std::vector<int> order = order_of(s);
  std::string text;
  if (!order.empty())
    text = fmt::format(
        "{} raced, compared by {}; times are of a thousand tokens, losses after {} steps of the "
        "same data\n"
        "     planned     process        ms    cpu ms    tokens/s  matmul      loss  rounds  "
        "with\n",
        order.size(), s.race.by_wall() ? "elapsed time" : "processor time", s.first_steps + 1);
  for (const int row : order) {
    const RowFigures f = figures_of(s, row);
    text += fmt::format("{:>12}{:>12}{:>10.2f}{:>10.2f}{:>12}{:>8}{:>10.4f}{:>8}  {}\n",
                        cli::bytes_text(row_of(s.grid, row).bytes()), cli::bytes_text(f.peak_bytes),
                        f.ms, f.cpu_ms, thousands(f.tokens_per_s), share_text(f), f.loss, f.rounds,
                        with_text(s.grid, row));
  }
  for (const Run& run : failed(s.runs))
    text += fmt::format("failed, with {}: {}\n", with_text(s.grid, run.row), run.failure);
  if (s.not_raced > 0)
    text += fmt::format(
        "{} that fit took no part: the least of forecasts made of what each policy was measured to "
        "change;"
        " --arms lets in more\n",
        s.not_raced);
  if (order.empty()) return text + "no combination has trained\n";
  return text + verdict_text(s) + lines_to_paste(s.grid.recipe, row_of(s.grid, order.front()));
}

Json standing_json(const Standing& s) {
  const std::vector<int> order = order_of(s);
  const std::vector<int> front = front_of(s);
  const Json rows = grid_json(s.grid, {}).at("rows");
  Json measured = Json::array();
  for (const int row : order) {
    const RowFigures f = figures_of(s, row);
    Json entry{{"row", row}};
    entry.update(rows.at(std::size_t(row)));
    entry.erase("verdict");
    entry["process_bytes"] = f.peak_bytes;
    entry["ms_per_thousand_tokens"] = f.ms;
    entry["cpu_ms_per_thousand_tokens"] = f.cpu_ms;
    entry["tokens_per_s"] = f.tokens_per_s;
    entry["loss"] = finite_or_null(f.loss);
    entry["matmul_share"] = f.matmul_share ? Json(*f.matmul_share) : Json(nullptr);
    entry["rounds"] = f.rounds;
    entry["on_front"] = std::ranges::find(front, row) != front.end();
    measured.push_back(std::move(entry));
  }
  Json failures = Json::array();
  for (const Run& run : failed(s.runs))
    failures.push_back(
        {{"row", run.row}, {"changed", row_of(s.grid, run.row).changed}, {"failure", run.failure}});
  return {{"recipe", s.grid.recipe},
          {"compared_by", s.race.by_wall() ? "elapsed time" : "processor time"},
          {"is_decided", s.end == RaceEnd::is_sure},
          {"steps_of_loss", s.first_steps + 1},
          {"not_raced", s.not_raced},
          {"raced", std::move(measured)},
          {"failed", std::move(failures)}};
}

}  // namespace sinter::detail::tune

// SPDX-License-Identifier: Apache-2.0
#include "tune/race_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "cli/output.hpp"
#include "tune/front.hpp"
#include "tune/tuned_file.hpp"

namespace sinter::detail::tune {
namespace {

using Json = nlohmann::ordered_json;

const Row& row_of(const Grid& grid, int row) { return grid.rows.at(std::size_t(row)); }
std::string with_text(const Grid& grid, int row) { return change_text(row_of(grid, row)); }

/// What all runs of a row have measured together.
struct Total {
  int row = 0, rounds = 0;
  std::vector<double> wall{}, cpu{};
  std::vector<double> shares{};  // of the matmul's speed, where it was measured
  double first_loss = 0;         // after the steps of the first round, which all rows have
  std::int64_t peak = 0;
  std::string failure{};
};

/// The part of the matmul's speed that a run has reached. requires  run.matmul_flops > 0
double share_of(const Run& run, const Row& row) {
  return 1e3 * double(row.flops_per_token) * run.step_tokens / run.step_ms / run.matmul_flops;
}

Total total_of(const Standing& s, int row) {
  Total total{row};
  for (const Run& run : s.runs) {
    if (run.row != row) continue;
    if (run.matmul_flops > 0 && run.failure.empty())
      total.shares.push_back(share_of(run, row_of(s.grid, row)));
    if (run.round == 0) total.first_loss = run.loss;
    total.rounds = std::max(total.rounds, run.round + 1);
    total.wall.insert(total.wall.end(), run.wall_ms.begin(), run.wall_ms.end());
    total.cpu.insert(total.cpu.end(), run.cpu_ms.begin(), run.cpu_ms.end());
    total.peak = std::max(total.peak, run.peak_bytes);
    if (!run.failure.empty()) total.failure = run.failure;
  }
  return total;
}

std::vector<Run> failed(const std::vector<Run>& runs) {
  std::vector<Run> found;
  std::ranges::copy_if(runs, std::back_inserter(found),
                       [](const Run& run) { return !run.failure.empty(); });
  return found;
}

std::int64_t tokens_per_s(double ms_per_thousand) { return std::llround(1e6 / ms_per_thousand); }

std::string verdict(const Standing& s) {
  if (s.end == RaceEnd::is_sure && order_of(s).size() == 1)
    return "decided: no other has trained\n";
  if (s.end == RaceEnd::is_sure)
    return "decided: of those that ran the longest, the first is the fastest for sure, or all are "
           "within 2 %"
           " (bootstrap, 95 of 100)\n";
  if (s.end == RaceEnd::after_all_rounds)
    return "not decided after all rounds: those that ran the longest are too much alike for this "
           "machine\n";
  return "not decided: the race ended before. The same command goes on\n";
}

}  // namespace

std::vector<int> order_of(const Standing& s) {
  std::vector<int> rows;
  for (const Run& run : s.runs)
    if (s.race.has(run.row) && std::ranges::find(rows, run.row) == rows.end())
      rows.push_back(run.row);
  std::ranges::sort(rows, {}, [&](int row) {
    const auto& alive = s.race.alive();
    const bool has_left = std::ranges::find(alive, row) == alive.end();
    return std::tuple(has_left, s.race.cost(row), row);
  });
  return rows;
}

std::string line_text(const Grid& grid, const Run& run, bool by_wall) {
  const std::string with = with_text(grid, run.row);
  if (!run.failure.empty()) return fmt::format("failed, with {}: {}", with, run.failure);
  const double cost = median(by_wall ? run.wall_ms : run.cpu_ms);
  return fmt::format("{} tokens per second{}, with {}", thousands(tokens_per_s(cost)),
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
    const Total total = total_of(s, row);
    const std::string share =
        total.shares.empty() ? "" : fmt::format("{:.0f} %", 100 * median(total.shares));
    text += fmt::format("{:>12}{:>12}{:>10.2f}{:>10.2f}{:>12}{:>8}{:>10.4f}{:>8}  {}\n",
                        cli::bytes_text(row_of(s.grid, row).bytes()), cli::bytes_text(total.peak),
                        median(total.wall), median(total.cpu),
                        thousands(tokens_per_s(median(total.wall))), share, total.first_loss,
                        total.rounds, with_text(s.grid, row));
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
  return text + verdict(s) + lines_to_paste(s.grid.recipe, row_of(s.grid, order.front()));
}

Json standing_json(const Standing& s) {
  const std::vector<int> order = order_of(s);
  const std::vector<int> front = front_of(s);
  const Json rows = grid_json(s.grid, {}).at("rows");
  Json measured = Json::array();
  for (const int row : order) {
    const Total total = total_of(s, row);
    Json entry{{"row", row}};
    entry.update(rows.at(std::size_t(row)));
    entry.erase("verdict");
    entry["process_bytes"] = total.peak;
    entry["ms_per_thousand_tokens"] = median(total.wall);
    entry["cpu_ms_per_thousand_tokens"] = median(total.cpu);
    entry["tokens_per_s"] = tokens_per_s(median(total.wall));
    entry["loss"] = std::isfinite(total.first_loss) ? Json(total.first_loss) : Json(nullptr);
    entry["matmul_share"] = total.shares.empty() ? Json(nullptr) : Json(median(total.shares));
    entry["rounds"] = total.rounds;
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

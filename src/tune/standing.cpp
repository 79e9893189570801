// SPDX-License-Identifier: Apache-2.0
#include "tune/standing.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace sinter::detail::tune {
namespace {

/// The part of the matmul's speed that a run has reached.
/// requires  run.matmul_flops > 0
double share_of(const Run& run, const Row& row) {
  return 1e3 * double(row.flops_per_token) * run.step_tokens / run.step_ms / run.matmul_flops;
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

RowFigures figures_of(const Standing& s, int row) {
  RowFigures figures;
  std::vector<double> wall, cpu, shares;
  for (const Run& run : s.runs) {
    if (run.row != row) continue;
    if (run.matmul_flops > 0 && run.failure.empty())
      shares.push_back(share_of(run, s.grid.rows.at(std::size_t(row))));
    if (run.round == 0) figures.loss = run.loss;
    figures.rounds = std::max(figures.rounds, run.round + 1);
    wall.insert(wall.end(), run.wall_ms.begin(), run.wall_ms.end());
    cpu.insert(cpu.end(), run.cpu_ms.begin(), run.cpu_ms.end());
    figures.peak_bytes = std::max(figures.peak_bytes, run.peak_bytes);
  }
  figures.ms = median(wall);
  figures.cpu_ms = median(cpu);
  figures.tokens_per_s = std::llround(1e6 / figures.ms);
  if (!shares.empty()) figures.matmul_share = median(shares);
  return figures;
}

}  // namespace sinter::detail::tune

// SPDX-License-Identifier: Apache-2.0
// How a race stands: its rows in order, and what each has measured.
#pragma once
#include <optional>
#include <vector>

#include "tune/race.hpp"
#include "tune/row.hpp"

namespace sinter::detail::tune {

/// Why a race has ended.
enum class RaceEnd { is_sure, after_all_rounds, before_its_end };

/// A race as it stands.
struct Standing {
  const Grid& grid;
  const std::vector<Run>& runs;
  const Race& race;
  RaceEnd end = RaceEnd::before_its_end;
  int first_steps = 0;  ///< that a process counted in round 0
  int not_raced = 0;    ///< rows that fit and took no part
};

/// The rows that measured something: first those that would go on, each part the fastest first.
std::vector<int> order_of(const Standing& standing);

/// What all runs of a row have measured together.
struct RowFigures {
  double ms = 0, cpu_ms = 0;  ///< elapsed and processor time of a thousand tokens: medians
  std::int64_t tokens_per_s = 0;
  std::optional<double> matmul_share{};  ///< of the matmul's speed, where measured: the median
  double loss = 0;              ///< after the steps of the first round, which all rows have
  std::int64_t peak_bytes = 0;  ///< the most memory of a process
  int rounds = 0;
};
/// requires  standing.race.has(row)
RowFigures figures_of(const Standing& standing, int row);

}  // namespace sinter::detail::tune

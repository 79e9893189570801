// SPDX-License-Identifier: Apache-2.0
// A learning-rate range test (Smith 2015): in one run the rate rises by equal factors, and a good rate is
// where the loss falls the fastest.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "report/run_log.hpp"
#include "tune/number_range.hpp"

namespace sinter::detail::tune {

/// The fewest steps of a test.
constexpr int least_lr_steps = 20;

/// Reads what --lr-range takes. The count is that of the steps, 100 if it is left out.
/// throws    UsageError
NumberRange lr_range_in(const std::string& text);

/// A step of the run.
struct LrStep {
  std::int64_t step = 0;
  double rate = 0, loss = 0;
  double average = 0;  ///< of the losses so far
};

/// The first step that may be suggested, from 0: averages of fewer losses are noise.
constexpr std::size_t first_lr_step(const NumberRange& rates) {
  return std::size_t(rates.count) / 10;
}

/// What the steps so far say.
struct LrRange {
  std::vector<LrStep> steps{};
  /// True if the last average is above 4 times the lowest, or the loss behind it is no number.
  bool has_diverged = false;
  std::optional<std::size_t> lowest{};  ///< where the average is the lowest
  /// Where the average falls the fastest by the rate's logarithm, from first_lr_step() on.
  std::optional<std::size_t> steepest{};
};

/// Reads a test from a run's rows, as they are so far; those behind a divergence do not count. Losses are
/// averaged exponentially, with bias correction, over about a twentieth of the steps.
LrRange lr_range_of(std::span<const report::Row> rows, const NumberRange& rates);

}  // namespace sinter::detail::tune

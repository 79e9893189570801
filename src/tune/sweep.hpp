// SPDX-License-Identifier: Apache-2.0
// The values that ./sinter tune --sweep gives to options.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sinter::detail::tune {

/// What one option is given: the words of a list, or numbers of a range.
struct Swept {
  std::string option;                ///< with its slot: "optimizer.lr"
  std::vector<std::string> words{};  ///< as a flag takes them; none for a range
  double low = 0, high = 0;          ///< of a range
  int count = 0;                     ///< of the range's values in a grid; 0 if none was given
  bool is_whole = false;             ///< the option takes whole numbers, so a range has only these
};

/// Reads "optimizer.lr=1e-4..1e-2:6", "optimizer.lr=1e-4..1e-2" or "schedule.warmup=0,100,200".
/// throws    UsageError
Swept swept_of(const std::string& text);

/// The values of an option in a grid. Those of a range go from its low end to its high one, by equal
/// factors if the low end is above 0, else by equal steps. Whole numbers are rounded, and each is there
/// once.
/// throws    UsageError if it is a range without a count
std::vector<std::string> grid_values(const Swept& swept);

/// A value for each option.
using Point = std::vector<std::string>;

/// All combinations of the options' values in a grid; the last option differs the fastest.
/// throws    UsageError if one is a range without a count, or they are more than 1,000
std::vector<Point> grid_points(const std::vector<Swept>& options);

/// Combinations of values drawn at random, each once: of a list or a range with a count any of
/// grid_values(), of another range any number, its logarithm evenly if the low end is above 0. They are fewer than `count` only if a thousand draws in a
/// row bring nothing new. The same seed draws the same.
std::vector<Point> random_points(const std::vector<Swept>& options, int count, std::uint64_t seed);

}  // namespace sinter::detail::tune

// SPDX-License-Identifier: Apache-2.0
// Which rows of a grid take part in a race, where there are too many to compile.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "tune/grid_text.hpp"

namespace sinter::detail::tune {

/// The rows that fit, by number.
std::vector<int> rows_that_fit(const Grid& grid, Limit limit);

/// The rows that run first, at most `most` of those that fit, the recipe first if it fits. If more fit,
/// these are such that each policy that fits is in one of them, with as few changes as that takes; those
/// that plan more bytes come before others, as they recompute less. A quarter of `most` stays free for
/// forecast_arms().
std::vector<int> first_arms(const Grid& grid, Limit limit, int most);

/// The rows with the lowest forecasts, of those that fit and have not run. A forecast takes each policy
/// to change the cost by a factor of its own, which least squares find from what has been measured.
/// costs: milliseconds of a thousand tokens of rows that ran. failed: rows that could not; those with all
/// of their changes take no part. count: at most so many.
std::vector<int> forecast_arms(const Grid& grid, Limit limit, const std::map<int, double>& costs,
                               const std::set<int>& failed, int count);

}  // namespace sinter::detail::tune

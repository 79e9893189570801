// SPDX-License-Identifier: Apache-2.0
// The rows of a race that no other beats in memory and speed together (the Pareto front).
#pragma once
#include <vector>

#include "report/chart.hpp"
#include "tune/standing.hpp"

namespace sinter::detail::tune {

/// The rows for which no other has at most as many planned bytes and at least the speed; those with the
/// fewest bytes first. Of equals, it has the one that order_of() has first.
std::vector<int> front_of(const Standing& standing);

/// All rows that have measured something, by planned bytes and tokens a second: a line joins the front,
/// whose rows are named first.
report::Chart front_chart(const Standing& standing);

}  // namespace sinter::detail::tune

// SPDX-License-Identifier: Apache-2.0
// The range of an axis that a spike does not eat.
#pragma once
#include <span>

#include "report/chart.hpp"

namespace sinter::detail::report {

/// The range of a curve's values without those that lie far beyond all but a twentieth at each end:
/// by more than three times the distance between these two quantiles. With fewer than eight values
/// it is the whole range.
/// requires  there is a point
Limits robust_range(std::span<const Point> points);

}  // namespace sinter::detail::report

// SPDX-License-Identifier: Apache-2.0
// The moving average behind which a curve's own values are faint.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "report/chart.hpp"

namespace sinter::detail::report {

/// Returns the means of at most `most` intervals of a curve, each at the last x of its interval.
/// Values beyond `range` count as its ends, so that a spike does not lead the average away.
/// requires  most > 0
std::vector<Mean> means_of(std::span<const Point> points, std::size_t most, Limits range);

/// An exponential moving average with bias correction, as TensorBoard's: the average before a value
/// counts `weight`, and the sum is divided by the weights that it has so far. A mean of several
/// values counts as that many equal ones.
/// requires  0 <= weight < 1
std::vector<Point> smoothed(std::span<const Mean> means, double weight);

/// The weight with which the average of so many values covers about a fiftieth of them; 0 for at
/// most 50.
double usual_weight(std::size_t values);

}  // namespace sinter::detail::report

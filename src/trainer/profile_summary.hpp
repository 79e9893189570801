// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace sinter::detail {

/// Returns at most ten lines on what takes most of the time: share, milliseconds per step, and
/// name. If there are more than ten names, the tenth line is the sum of the others. `spent` has
/// nanoseconds by name; names without time are left out.
/// requires  steps >= 1
std::string profile_summary(const std::map<std::string, std::int64_t>& spent, std::int64_t steps);

}  // namespace sinter::detail

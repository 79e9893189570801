// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace sinter::detail {

/// Says in at most ten lines what takes the most of the time: the share of all, milliseconds for
/// each step, and the name. Where there are more than ten names, the tenth line has all the others.
/// `spent` has nanoseconds by name; names without time are left out.
/// requires  steps >= 1
std::string profile_summary(const std::map<std::string, std::int64_t>& spent, std::int64_t steps);

}  // namespace sinter::detail

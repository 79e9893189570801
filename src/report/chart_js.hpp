// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace sinter::detail::report {

/// Chart.js with its licence, as CMake found it (cmake/chart_js.cmake); empty if it did not.
std::string_view chart_js();

}  // namespace sinter::detail::report

// SPDX-License-Identifier: Apache-2.0
// The parts of the page on memory.
#pragma once
#include <string>

#include "report/chart.hpp"
#include "report/page.hpp"

namespace sinter::detail::report {

/// The memory during a step, by instruction.
Chart memory_chart(const Known& known);

/// Tables of memory in HTML: by purpose, and by units of the model.
std::string memory_html(const Known& known);

}  // namespace sinter::detail::report

// SPDX-License-Identifier: Apache-2.0
#include "report/memory_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/table.hpp"
#include "sinter/data/unit.hpp"

namespace sinter::detail::report {
namespace {

std::string mebibytes(std::int64_t bytes) {
  return fmt::format("{:.2f}", double(bytes) / (1 << 20));
}

Cell bar(double share) {
  return {fmt::format("<span class=\"bar\" style=\"width:{:.1f}%\"></span>", 100 * share), "bars",
          true};
}

std::string memory_table(const Known& known) {
  const double total = std::max<double>(1, double(known.memory.back().second));
  Table table({"part of the arena", "MiB", "bytes", "share", ""});
  for (const auto& [name, bytes] : known.memory) {
    const double share = double(bytes) / total;
    table.add({{name},
               number_cell(mebibytes(bytes)),
               number_cell(thousands(bytes)),
               number_cell(fmt::format("{:.1f} %", 100 * share)),
               bar(share)});
  }
  return table.html();
}

/// What each unit of the model has of it.
std::string units_table(const Known& known) {
  if (known.arena.units.empty()) return "";
  std::int64_t most = 1;
  for (const UnitUse& unit : known.arena.units) most = std::max(most, unit.temporary);
  Table table({"unit", "parameters", "MiB while the step is fullest", ""});
  for (const UnitUse& unit : known.arena.units)
    table.add({{unit.name},
               number_cell(thousands(unit.parameters)),
               number_cell(mebibytes(unit.temporary)),
               bar(double(unit.temporary) / double(most))});
  return fmt::format(
      "<p>By units of the model: parameters, and what the arena holds of each for a time. A step "
      "is "
      "fullest at its instruction {}.</p>\n{}",
      escaped(known.arena.fullest), table.html());
}

}  // namespace

Chart memory_chart(const Known& known) {
  Chart chart{"Memory during a step",
              "instruction of the program",
              "MiB in use",
              {{"in use", known.arena.mebibytes}},
              false,
              true};
  chart.names = known.arena.instructions;
  return chart;
}

std::string memory_html(const Known& known) { return memory_table(known) + units_table(known); }

}  // namespace sinter::detail::report

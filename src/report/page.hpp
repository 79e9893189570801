// SPDX-License-Identifier: Apache-2.0
// The page that `report` writes.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/arena_use.hpp"
#include "report/run_log.hpp"

namespace sinter::detail::report {

/// What a binary knows of its own recipe, and so of the runs that are of it.
struct Known {
  std::string recipe, plan, program;                         ///< as describe prints them
  std::vector<std::pair<std::string, std::int64_t>> memory;  ///< its parts, and last their total
  ArenaUse arena;
  double flops_per_token = 0;
  std::vector<bool> is_of;                      ///< for each run, true if it is of this recipe
  std::map<std::string, std::string> defaults;  ///< of its options, as JSON
};

/// The beginning of every page, by which one is recognised.
inline constexpr std::string_view page_begin = "<!DOCTYPE html>\n<!-- A report of Sinter.";

/// One HTML page without any reference to others. `script` is Chart.js, or empty: curves are then
/// drawn as SVG.
std::string page_of(std::span<const RunLog> runs, const Known& known, std::string_view script);

/// A page in the same style, without a script.
/// body: HTML
std::string plain_page(std::string_view title, std::string_view body);

}  // namespace sinter::detail::report

// SPDX-License-Identifier: Apache-2.0
#include "tune/grid_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cli/output.hpp"

namespace sinter::detail::tune {
namespace {

using cli::bytes_text;

std::string heading(const Grid& grid) {
  std::string text = fmt::format("recipe  {}: {} combination{}", grid.recipe, grid.rows.size(),
                                 grid.rows.size() == 1 ? "" : "s");
  if (!grid.slots.empty()) text += fmt::format(" of {}", fmt::join(grid.slots, ", "));
  text += fmt::format("\nplan    a step is {}FLOP, recomputation not counted\n",
                      cli::metric(double(grid.rows.front().flops)));
  if (!grid.is_all_planned)
    text += "        layers that LibTorch computes take more than what is planned\n";
  return text;
}

std::string table(const std::vector<Row>& rows) {
  std::vector<std::pair<std::int64_t, const Row*>> smallest_first;  // equal ones in their order
  for (const Row& row : rows) smallest_first.emplace_back(row.bytes(), &row);
  std::ranges::sort(smallest_first);
  std::string text = "             planned  ranks  micro  with\n";
  for (const auto& [bytes, row] : smallest_first)
    text += fmt::format("        {:>12}{:>7}{:>7}  {}\n", bytes_text(bytes), row->ranks, row->micro,
                        change_text(*row));
  return text;
}

/// How many rows each reason refuses, and one of them.
std::string refused_text(const std::vector<Row>& rows) {
  std::vector<std::string> reasons;
  for (const Row& row : rows)
    if (std::ranges::find(reasons, row.reason) == reasons.end()) reasons.push_back(row.reason);
  std::string text;
  for (const std::string& reason : reasons) {
    const auto first = std::ranges::find(rows, reason, &Row::reason);
    text +=
        fmt::format("        {:>12}  {}, as in {}\n",
                    std::ranges::count(rows, reason, &Row::reason), reason, change_text(*first));
  }
  return text;
}

}  // namespace

std::string change_text(const Row& row) {
  return row.changed.empty() ? "the recipe as it is"
                             : fmt::format("{}", fmt::join(row.changed, ", "));
}

std::string grid_text(const Grid& grid, Limit limit) {
  std::vector<Row> fit, large, refused;
  for (const Row& row : grid.rows)
    (!row.reason.empty() ? refused : limit.allows(row) ? fit : large).push_back(row);
  std::string text = heading(grid);
  if (!fit.empty()) text += fmt::format("{} fit\n{}", fit.size(), table(fit));
  if (!large.empty()) {
    const Row& least = *std::ranges::min_element(large, {}, &Row::bytes);
    text +=
        fmt::format("{} do not fit in {}; the smallest of them plans {}, with {}\n", large.size(),
                    bytes_text(limit.bytes), bytes_text(least.bytes()), change_text(least));
  }
  if (!refused.empty())
    text += fmt::format("{} are no recipe\n{}", refused.size(), refused_text(refused));
  return text;
}

nlohmann::ordered_json grid_json(const Grid& grid, Limit limit) {
  using Json = nlohmann::ordered_json;
  Json rows = Json::array();
  for (const Row& row : grid.rows) {
    Json policies = Json::object();
    for (std::size_t k = 0; k < grid.slots.size(); ++k) policies[grid.slots[k]] = row.policies[k];
    Json json{{"policies", std::move(policies)}, {"changed", row.changed}, {"ranks", row.ranks}};
    if (row.reason.empty()) {
      json["verdict"] = limit.allows(row) ? "fits" : "too large";
      json["micro"] = row.micro;
      json["planned_bytes"] = row.bytes();
      json["arena_bytes"] = row.arena;
      json["flops_per_step"] = row.flops;
    } else {
      json["verdict"] = "no recipe";
      json["reason"] = row.reason;
    }
    rows.push_back(std::move(json));
  }
  return {{"recipe", grid.recipe},
          {"slots", grid.slots},
          {"memory", limit.bytes ? Json(limit.bytes) : Json(nullptr)},
          {"rows", std::move(rows)}};
}

}  // namespace sinter::detail::tune

// SPDX-License-Identifier: Apache-2.0
#include "tune/arms.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace sinter::detail::tune {
namespace {

const Row& at(const Grid& grid, int row) { return grid.rows[std::size_t(row)]; }

using Policy = std::pair<std::size_t, std::string>;  // the slot, and what is in it

std::vector<Policy> policies_of(const Row& row) {
  std::vector<Policy> policies;
  for (std::size_t slot = 0; slot < row.policies.size(); ++slot)
    policies.emplace_back(slot, row.policies[slot]);
  return policies;
}

/// Logarithms of factors, one for each policy that is not the recipe's own.
class Factors {
  const Grid& grid_;
  double base_ = 0;
  std::map<Policy, double> factors_{};

 public:
  Factors(const Grid& grid, const std::map<int, double>& costs) : grid_(grid) {
    for (int pass = 0; pass < 200; ++pass) {
      base_ += mean_error(costs, [](int) { return true; }, 0);
      for (auto& [policy, factor] : factors_of(costs)) {
        const auto has = [&](int row) {
          return at(grid_, row).policies[policy.first] == policy.second;
        };
        factor += mean_error(costs, has, 0.01 * factor);
      }
    }
  }

  double forecast(int row) const {
    double sum = base_;
    for (const Policy& policy : policies_of(at(grid_, row)))
      if (const auto found = factors_.find(policy); found != factors_.end()) sum += found->second;
    return sum;
  }

 private:
  std::map<Policy, double>& factors_of(const std::map<int, double>& costs) {
    if (factors_.empty())
      for (const auto& [row, cost] : costs)
        for (const Policy& policy : policies_of(at(grid_, row)))
          if (grid_.rows.front().policies[policy.first] != policy.second) factors_[policy] = 0;
    return factors_;
  }
  /// By how much forecasts of some rows are too low. `drag` keeps a factor at 1 that nothing decides.
  double mean_error(const std::map<int, double>& costs, auto&& counts, double drag) const {
    double sum = -drag;
    int count = 0;
    for (const auto& [row, cost] : costs)
      if (counts(row)) sum += std::log(cost) - forecast(row), ++count;
    return count ? sum / count : 0;
  }
};

}  // namespace

std::vector<int> rows_that_fit(const Grid& grid, Limit limit) {
  std::vector<int> rows;
  for (std::size_t k = 0; k < grid.rows.size(); ++k)
    if (grid.rows[k].reason.empty() && limit.allows(grid.rows[k])) rows.push_back(int(k));
  return rows;
}

std::vector<int> first_arms(const Grid& grid, Limit limit, int most) {
  std::vector<int> rows = rows_that_fit(grid, limit);
  std::ranges::sort(rows, {}, [&](int row) {
    return std::tuple(at(grid, row).changed.size(), -at(grid, row).bytes(), row);
  });
  if (int(rows.size()) <= most) return rows;
  std::vector<int> chosen;
  std::set<Policy> seen;
  for (const int row : rows) {
    if (int(chosen.size()) == most - most / 4) break;
    const std::vector<Policy> policies = policies_of(at(grid, row));
    const bool is_new = std::ranges::any_of(policies, [&](auto& p) { return !seen.contains(p); });
    if (!is_new) continue;
    chosen.push_back(row);
    seen.insert(policies.begin(), policies.end());
  }
  return chosen;
}

std::vector<int> forecast_arms(const Grid& grid, Limit limit, const std::map<int, double>& costs,
                               const std::set<int>& failed, int count) {
  const auto has_all_of = [&](int row, int other) {
    const auto& changed = at(grid, row).changed;
    return std::ranges::all_of(at(grid, other).changed, [&](const std::string& policy) {
      return std::ranges::find(changed, policy) != changed.end();
    });
  };
  std::vector<int> rows = rows_that_fit(grid, limit);
  std::erase_if(rows, [&](int row) {
    if (costs.contains(row) || failed.contains(row)) return true;
    return std::ranges::any_of(failed, [&](int other) {
      return !at(grid, other).changed.empty() && has_all_of(row, other);
    });
  });
  const Factors factors(grid, costs);
  std::ranges::sort(rows, {}, [&](int row) { return std::pair(factors.forecast(row), row); });
  rows.resize(std::min(rows.size(), std::size_t(std::max(count, 0))));
  return rows;
}

}  // namespace sinter::detail::tune

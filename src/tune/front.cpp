// SPDX-License-Identifier: Apache-2.0
#include "tune/front.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace sinter::detail::tune {
namespace {

const Row& planned(const Standing& s, int row) { return s.grid.rows.at(std::size_t(row)); }

/// A row as a mark: MiB across, tokens a second up.
report::Curve mark_of(const Standing& s, int row, int number) {
  constexpr int colours = 6;  // and as many darker ones
  return {.name = change_text(planned(s, row)),
          .points = {{double(planned(s, row).bytes()) / (1 << 20), 1e6 / s.race.cost(row)}},
          .colour = number,
          .marks = true,
          .dark = number / colours % 2 == 1};
}

}  // namespace

std::vector<int> front_of(const Standing& s) {
  std::vector<int> rows = order_of(s), front;
  const std::vector<int> order = rows;
  std::ranges::sort(rows, {}, [&](int row) {
    return std::tuple(planned(s, row).bytes(), s.race.cost(row),
                      std::ranges::find(order, row) - order.begin());
  });
  for (const int row : rows)  // each is faster than all that need less
    if (front.empty() || s.race.cost(row) < s.race.cost(front.back())) front.push_back(row);
  return front;
}

report::Chart front_chart(const Standing& s) {
  const std::vector<int> front = front_of(s);
  report::Chart chart{
      .title = fmt::format("{}: the fastest for each memory", s.grid.recipe),
      .x = "planned MiB",
      .y = s.race.by_wall() ? "tokens per second" : "tokens per second of the processor",
      .curves = {{.name = ""}}};  // the line
  std::vector<int> rows = front;
  for (const int row : order_of(s))
    if (std::ranges::find(front, row) == front.end()) rows.push_back(row);
  for (const int row : rows) chart.curves.push_back(mark_of(s, row, int(chart.curves.size()) - 1));
  for (std::size_t k = 0; k < front.size(); ++k)
    chart.curves.front().points.push_back(chart.curves[k + 1].points.front());
  return chart;
}

}  // namespace sinter::detail::tune

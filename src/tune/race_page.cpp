// SPDX-License-Identifier: Apache-2.0
#include "tune/race_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output.hpp"
#include "report/page.hpp"
#include "report/svg.hpp"
#include "report/table.hpp"
#include "tune/front.hpp"
#include "tune/race_text.hpp"
#include "tune/tuned_file.hpp"

namespace sinter::detail::tune {
namespace {

using report::escaped, report::number_cell;

std::string front_figure(const Standing& s) {
  const report::Chart chart = front_chart(s);
  return fmt::format(
      "<figure style=\"max-width: 56rem\"><figcaption>{} <small>{}</small></figcaption>\n"
      "{}</figure>\n",
      escaped(chart.title), escaped(chart.y), report::svg_of(chart, 0));
}

std::string rows_table(const Standing& s) {
  report::Table table({"with", "planned", "process", "ms of a thousand tokens",
                       "ms of the processor", "tokens/s", "of the matmul's speed",
                       fmt::format("loss after {} steps", s.first_steps + 1), "rounds", "front"});
  const std::vector<int> order = order_of(s), front = front_of(s);
  for (const int number : order) {
    const Row& row = s.grid.rows.at(std::size_t(number));
    const RowFigures f = figures_of(s, number);
    const bool on_front = std::ranges::find(front, number) != front.end();
    table.add({{change_text(row)},
               number_cell(cli::bytes_text(row.bytes())),
               number_cell(cli::bytes_text(f.peak_bytes)),
               number_cell(fmt::format("{:.2f}", f.ms)),
               number_cell(fmt::format("{:.2f}", f.cpu_ms)),
               number_cell(thousands(f.tokens_per_s)),
               number_cell(share_text(f)),
               number_cell(fmt::format("{:.4f}", f.loss)),
               number_cell(std::to_string(f.rounds)),
               {on_front ? "yes" : ""}},
              number == order.front() ? "best" : "");
  }
  return table.html();
}

std::string failures(const Standing& s) {
  std::string text;
  for (const Run& run : s.runs)
    if (!run.failure.empty())
      text += fmt::format("<p class=\"note\">{}</p>\n",
                          escaped(line_text(s.grid, run, s.race.by_wall())));
  return text;
}

}  // namespace

std::string race_page(const Standing& s) {
  const Row& first = s.grid.rows.at(std::size_t(order_of(s).front()));
  return report::plain_page(
      fmt::format("{}: a race of recipes", s.grid.recipe),
      fmt::format("<p class=\"headline\">Compared by {}. {}</p>\n",
                  s.race.by_wall() ? "elapsed time" : "processor time", escaped(verdict_text(s))) +
          front_figure(s) + rows_table(s) + failures(s) +
          fmt::format("<pre>{}</pre>\n", escaped(lines_to_paste(s.grid.recipe, first))));
}

}  // namespace sinter::detail::tune

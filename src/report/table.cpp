// SPDX-License-Identifier: Apache-2.0
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/chart.hpp"

namespace sinter::detail::report {
namespace {

std::string class_of(std::string_view kind) {
  return kind.empty() ? "" : fmt::format(" class=\"{}\"", kind);
}

std::string cell_html(const Cell& cell, std::string_view column, bool is_first) {
  const std::string text = cell.is_html ? cell.text : escaped(cell.text);
  return is_first ? fmt::format("<th scope=\"row\"{}>{}</th>", class_of(cell.kind), text)
                  : fmt::format("<td{} data-name=\"{}\">{}</td>", class_of(cell.kind),
                                escaped(column), text);
}

}  // namespace

bool Table::has(std::size_t column) const {
  return std::ranges::any_of(rows, [&](const Row& row) { return !row.cells[column].text.empty(); });
}

std::string Table::html() const {
  std::string heads, body;
  for (std::size_t k = 0; k < columns.size(); ++k)
    if (has(k)) heads += fmt::format("<th scope=\"col\">{}</th>", escaped(columns[k]));
  for (const Row& row : rows) {
    body += fmt::format("<tr{}>", class_of(row.kind));
    for (std::size_t k = 0; k < columns.size(); ++k)
      if (has(k)) body += cell_html(row.cells[k], columns[k], k == 0);
    body += "</tr>\n";
  }
  return fmt::format(
      "<div "
      "class=\"wide\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
      heads, body);
}

}  // namespace sinter::detail::report

// SPDX-License-Identifier: Apache-2.0
// A table of the page. On a narrow screen each row is a card, whose lines say their column's name.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinter::detail::report {

/// A cell. The kind is a class of the page's style: number, time (neither is broken into lines) or
/// nothing. The text is escaped, unless it is HTML already.
struct Cell {
  std::string text;
  std::string_view kind{};
  bool is_html = false;
};

/// Cells of numbers, and of what may not be broken into lines.
inline Cell number_cell(std::string text) { return {std::move(text), "number"}; }
inline Cell time_cell(std::string text) { return {std::move(text), "time"}; }

class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns(std::move(columns)) {}

  /// Adds a row, whose first cell names it. `kind` is a class of the page's style.
  /// requires  a cell for each column
  void add(std::vector<Cell> cells, std::string_view kind = "") {
    rows.push_back({std::move(cells), kind});
  }
  bool empty() const { return rows.empty(); }
  /// The table in HTML, without columns that are empty.
  std::string html() const;

 private:
  struct Row {
    std::vector<Cell> cells;
    std::string_view kind;
  };
  bool has(std::size_t column) const;

  std::vector<std::string> columns;
  std::vector<Row> rows;
};

}  // namespace sinter::detail::report
